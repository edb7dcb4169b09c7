#pragma once
// Stores points of series that have labels (remote write, OTLP). If all series of a batch are
// known, each point needs only one look-up; otherwise, the points of the batch are stored by name.
// If a point cannot be stored, the other points are stored nevertheless.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "http/intake/intake.h"
#include "http/request/services.h"
#include "http/wire/request_memory.h"
#include "http/wire/series_labels.h"
#include "storage/base/request_context.h"
#include "storage/model/point_sink.h"
#include "storage/model/write_context.h"

namespace hg::http {

/// Handles the points of one request on one thread. The functions may block, so they must run on a
/// pool thread.
class LabelledPoints : public LabelledSink {
 public:
  /// All arguments must outlive the object. The object charges its work to `context`. After
  /// `context` has returned an error, the object stores no more points. `writer` has the write
  /// limits of the client; nullptr = unlimited. The names of the points are charged to `memory`;
  /// nullptr = no limit. After `memory` has refused memory, the object stores no more points.
  LabelledPoints(Services& services, RequestContext& context, Writer* writer,
                 RequestMemory::Share* memory)
      : services_(services),
        context_(context),
        write_(context, writer, WriteContext::Checks::kOnce),
        intake_(services.sink, services.counters, write_),
        tags_max_(services.sink.tags_max()),
        names_room_(memory) {}

  void SetSeries(std::string_view metric, std::span<const Label> labels) override;
  bool BeginItem() override;
  /// Adds a point to the current item. Infinities, NaN and stale markers are stored as well
  /// (storage/model/special_double.h). If the time of a point is outside the valid range, the point
  /// is not stored and its item counts as rejected.
  void Add(int64_t time_ms, PointValue value) override;
  void Refuse(std::string_view reason) override;

  /// Stores the added points and waits until they are durable. If Finish returns an error, the
  /// client should send the same request again (Intake::Finish). If a point cannot be stored and a
  /// retry cannot succeed, Finish returns no error for this point; refused() counts the point's
  /// item.
  Status Finish();

  /// Returns the number of points that Finish made durable. Other points of the request may have
  /// been rejected.
  [[nodiscard]] uint64_t stored() const { return intake_.stored(); }
  // `items` returns the number of received items. `refused` returns the number of rejected items.
  // Both are valid after Finish.
  [[nodiscard]] uint64_t items() const { return items_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }
  /// Returns a text with the series of the first rejected item and the reason of the rejection.
  /// Returns "" if no item was rejected.
  [[nodiscard]] const std::string& first_refusal() const { return first_refusal_; }

 private:
  struct SeriesBytes {
    std::string all;  // the metric, followed by the labels as AppendLabels writes them
    size_t metric_size;

    [[nodiscard]] std::string_view metric() const { return {all.data(), metric_size}; }
    [[nodiscard]] ByteView labels() const { return ByteView(all).substr(metric_size); }
    [[nodiscard]] size_t size() const { return all.size(); }
  };

  struct NamedBatch;

  void Flush();
  /// Stores the collected points by name.
  void StoreNamed();
  /// Stores the points of a batch and empties the batch.
  void Store(NamedBatch* batch);
  void Judge(size_t point, const Status& result);
  void RefuseItem(uint64_t item, std::string_view metric, ByteView labels, std::string_view reason);
  /// Returns the reason to reject the points of a series with too many labels. Returns "" if the
  /// number of labels is allowed.
  [[nodiscard]] std::string TooManyLabels(std::span<const Label> labels) const;

  Services& services_;
  RequestContext& context_;
  WriteContext write_;
  Intake intake_;
  const size_t tags_max_;
  // Number of bytes of the raw series keys that were added since the last charge to context_.
  uint64_t raw_key_bytes_ = 0;
  /// The result of TooManyLabels for the current series. If it is not empty, only the first labels
  /// of the series are kept, and its points are rejected.
  std::string too_many_labels_;
  std::optional<NamingRules> rules_;  // naming rules; set when the first name must be escaped
  std::deque<SeriesBytes> series_;    // the series of points_ and the current series
  size_t series_bytes_ = 0;
  RequestMemory::Room names_room_;  // charges series_, and the names that StoreNamed makes of it
  bool borrowed_ = false;  // whether elements of points_ refer to the last element of series_
  std::vector<KeyedPoint> points_;
  /// For each element of points_, the number of its item; the first item is 1.
  std::vector<uint64_t> item_of_;
  uint64_t items_ = 0, refused_ = 0;
  std::vector<bool> item_refused_;
  std::string first_refusal_;
};

}  // namespace hg::http
