#pragma once
// The interfaces that accept histograms and rollup points. The HTTP and telnet handlers of put
// requests call these interfaces, and tsd/ingest implements them. Unlike points (point_sink.h),
// each histogram or rollup point is stored as a separate cell.

#include <span>
#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/letter_case.h"
#include "storage/model/point.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"
#include "storage/model/write_context.h"

namespace hg {

/// A histogram. The names are as in NamedPoint. The object does not own its texts.
struct NamedHistogram {
  std::string_view metric;
  std::span<const TagText> tags;
  Timestamp time;
  ByteView value;  // stored bytes, including the codec id (opentsdb-schema.md §12)
};

/// The common base of HistogramSink and RollupSink: the check of rate limits, and the commit.
/// Thread-safe.
class LimitedSink {
 public:
  virtual ~LimitedSink() = default;
  /// Returns ok if `values` values of these metrics may be stored now. Call this function before
  /// the first Put of a request. Returns LimitExceeded if none of the values may be stored; the
  /// error message names the user or metric that exceeds its limit. Returns Busy or Unavailable if
  /// the limits cannot be checked now. Put does not check the limits again, but counts the values
  /// that it stores.
  virtual Status AskFor(std::span<const std::string_view> metrics, uint64_t values,
                        WriteContext& context) {
    return (void)metrics, (void)values, (void)context, Status();
  }
  /// Returns a position. PointSink::Commit must reach this position before the values of all
  /// earlier calls of Put may be acknowledged. If Written fails, it is unknown when these values
  /// are durable.
  virtual Result<PointSink::Position> Written() { return PointSink::Position{0}; }
};

/// Accepts histograms. Thread-safe.
class HistogramSink : public LimitedSink {
 public:
  /// Checks the histogram, resolves its names and stores it. Returns the same errors as
  /// PointSink::AppendNamed. The call may block.
  virtual Status Put(const NamedHistogram& histogram, WriteContext& context) = 0;
};

/// One value of a rollup or pre-aggregate table. The names are as in NamedPoint and include the
/// aggregate tag (AggregateTagValue). Texts that the request did not have are "". The object does
/// not own its texts.
struct NamedRollup {
  std::string_view metric;
  std::span<const TagText> tags;
  Timestamp time;
  PointValue value;
  std::string_view interval;    // interval as configured, such as "1h"
  std::string_view aggregator;  // aggregator of the values in an interval; upper or lower case
  std::string_view group_by;    // aggregator of the values of several series; upper or lower case
  // Whether the request had the field group_by, even with an empty text. Empty texts are rejected.
  bool group_by_given = false;
};

/// Accepts rollup points. Thread-safe.
class RollupSink : public LimitedSink {
 public:
  /// Returns the tag key that marks values which were aggregated over several series.
  [[nodiscard]] virtual std::string_view aggregate_key() const = 0;
  /// Returns the value of the tag aggregate_key() for values of a single series. "" means that
  /// values of a single series do not have the tag.
  [[nodiscard]] virtual std::string_view raw_value() const = 0;
  /// Checks the rollup point, resolves its names and stores it. Returns the same errors as
  /// PointSink::AppendNamed. Returns Unsupported if the interval of the rollup is not configured.
  /// The call may block.
  virtual Status Put(const NamedRollup& rollup, WriteContext& context) = 0;
};

/// Returns the value of the aggregate tag that the callers of Put add to a rollup point; "" means
/// no tag. For times in milliseconds the result is "", because OpenTSDB rejects these times before
/// it adds the tag.
inline std::string AggregateTagValue(const RollupSink& sink, std::string_view group_by,
                                     Timestamp time) {
  if (time.is_millis()) return {};
  return group_by.empty() ? std::string(sink.raw_value()) : UpperCase(group_by);
}

}  // namespace hg
