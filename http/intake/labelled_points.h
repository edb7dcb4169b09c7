#pragma once
// Stores points of series that have labels (remote write, OTLP). A point of a known series needs
// one look-up; points of new series are stored by name. A point that cannot be stored does not
// affect the others.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "http/intake/intake.h"
#include "http/request/services.h"
#include "http/wire/series_labels.h"
#include "storage/base/request_context.h"
#include "storage/model/point_sink.h"
#include "storage/model/write_context.h"

namespace hg::http {

/// Handles the points of one request on one thread. Blocks, so it must run on a pool thread.
class LabelledPoints : public LabelledSink {
 public:
  /// The object reports its work to `context`. Once `context` returns an error, the object stores
  /// no more points. `writer` has the write limits of the client; nullptr = unlimited.
  LabelledPoints(Services& services, RequestContext& context, Writer* writer)
      : services_(services),
        context_(context),
        write_(context, writer, WriteContext::Checks::kOnce),
        intake_(services.sink, services.counters, write_),
        tags_max_(services.sink.tags_max()) {}

  void SetSeries(std::string_view metric, std::span<const Label> labels) override;
  void BeginItem() override;
  /// Adds a point to the current item. Infinities, NaN and stale markers are stored, too
  /// (storage/model/special_double.h). If a time is outside the valid range, the whole item is
  /// rejected.
  void Add(int64_t time_ms, PointValue value) override;
  void Refuse(std::string_view reason) override;

  /// Stores the added points and waits for the log. After an error, the client should send the same
  /// request again (Intake::Finish). Points that cannot be stored at a retry either cause no error;
  /// refused() counts them.
  Status Finish();

  /// Returns the number of points that Finish made durable, even if others could not be stored.
  [[nodiscard]] uint64_t stored() const { return intake_.stored(); }
  // Return the number of received items and the number of rejected items. Valid after Finish.
  [[nodiscard]] uint64_t items() const { return items_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }
  /// Returns the series of the first rejected item, and the reason.
  [[nodiscard]] const std::string& first_refusal() const { return first_refusal_; }

 private:
  struct SeriesBytes {
    std::string all;  // metric, then labels as AppendLabels writes them
    size_t metric_size;

    [[nodiscard]] std::string_view metric() const { return {all.data(), metric_size}; }
    [[nodiscard]] ByteView labels() const { return ByteView(all).substr(metric_size); }
    [[nodiscard]] size_t size() const { return all.size(); }
  };

  void Flush();
  /// Stores the points by name.
  void StoreNamed();
  void Judge(size_t point, const Status& result);
  void RefuseItem(uint64_t item, std::string_view metric, ByteView labels, std::string_view reason);
  /// Returns true if the current series has too many labels and the reason of an earlier refusal is
  /// already stored. If so, the caller rejects the points without reading the labels.
  [[nodiscard]] bool HasTooManyLabels(std::span<const Label> labels) const;

  Services& services_;
  RequestContext& context_;
  WriteContext write_;
  Intake intake_;
  const size_t tags_max_;
  // Bytes of those raw series keys that were added since the last report to context_.
  uint64_t raw_key_bytes_ = 0;
  bool too_many_labels_ = false;      // for the current series, whose labels are then not stored
  std::optional<NamingRules> rules_;  // set when the first name must be escaped
  std::deque<SeriesBytes> series_;    // the series of points_, and the current series
  size_t series_bytes_ = 0;
  bool borrowed_ = false;  // whether points_ refer to the last element of series_
  std::vector<KeyedPoint> points_;
  std::vector<uint64_t> item_of_;  // for each element of points_, its item number, from 1
  uint64_t items_ = 0, refused_ = 0;
  std::vector<bool> item_refused_;
  std::string first_refusal_;
};

}  // namespace hg::http
