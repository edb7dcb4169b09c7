#pragma once
// Stores points of series that are named by labels (remote write, OTLP). Points of known series
// need one lookup each; new series are stored by name. A point that cannot be stored does not
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
  /// no more points. `writer`: write limits of the client; nullptr = unlimited.
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
  /// refused.
  void Add(int64_t time_ms, PointValue value) override;
  void Refuse(std::string_view reason) override;

  /// Stores the added points and waits for the log. After an error, the client should send the same
  /// request again (Intake::Finish). Points that a retry would not store either do not cause an
  /// error; they are counted by refused().
  Status Finish();

  /// The number of points that Finish made durable, also if others could not be stored.
  [[nodiscard]] uint64_t stored() const { return intake_.stored(); }
  // The numbers of received items and of refused items. Valid after Finish.
  [[nodiscard]] uint64_t items() const { return items_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }
  /// Series and reason of the first refused item.
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
  /// Returns true if the current series has too many labels and the reason of an earlier refusal
  /// was already kept. The points of the series are then refused without reading the labels.
  [[nodiscard]] bool HasTooManyLabels(std::span<const Label> labels) const;

  Services& services_;
  RequestContext& context_;
  WriteContext write_;
  Intake intake_;
  const size_t tags_max_;
  // Bytes of raw series keys that were added since the last report to context_.
  uint64_t raw_key_bytes_ = 0;
  bool too_many_labels_ = false;      // for the current series, whose labels are then not kept
  std::optional<NamingRules> rules_;  // set when the first name must be escaped
  std::deque<SeriesBytes> series_;    // series of points_, and the current one
  size_t series_bytes_ = 0;
  bool borrowed_ = false;  // the last element of series_ has points in points_, which refer to it
  std::vector<KeyedPoint> points_;
  std::vector<uint64_t> item_of_;  // item number of each element of points_, from 1
  uint64_t items_ = 0, refused_ = 0;
  std::vector<bool> item_refused_;
  std::string first_refusal_;
};

}  // namespace hg::http
