#pragma once
// Where histograms and rolled-up points go: put and telnet hand them over, tsd/ingest implements
// it. Unlike points (point_sink.h) they are stored cell by cell, and are durable at once.

#include <span>
#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/letter_case.h"
#include "storage/model/point.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"

namespace hg {

/// Names as of a NamedPoint. Borrowed.
struct NamedHistogram {
  std::string_view metric;
  std::span<const TagText> tags;
  Timestamp time;
  ByteView value;  // as it is stored, codec id included (spec schema.md §12)
};

/// What both sinks are asked. Thread-safe.
class LimitedSink {
 public:
  virtual ~LimitedSink() = default;
  /// Whether so many values of these metrics may be stored now: before the first Put of what comes
  /// together. LimitExceeded: of none, as of PointSink; the message names who or what takes too
  /// many. Busy or Unavailable: the store does not say now. Put does not ask again, and counts what
  /// it has stored.
  virtual Status AskFor(std::span<const std::string_view> metrics, uint64_t values) {
    return (void)metrics, (void)values, Status();
  }
};

/// Thread-safe.
class HistogramSink : public LimitedSink {
 public:
  /// Checks, names and stores. Verdicts as of PointSink::AppendNamed. Blocks.
  virtual Status Put(const NamedHistogram& histogram) = 0;
};

/// One value of a rollup or pre-aggregate table. Names as of a NamedPoint, the aggregate tag among
/// them (AggregateTagValue); absent = "". Borrowed.
struct NamedRollup {
  std::string_view metric;
  std::span<const TagText> tags;
  Timestamp time;
  PointValue value;
  std::string_view interval;    // as configured, such as "1h"
  std::string_view aggregator;  // of the interval; any case
  std::string_view group_by;    // function over series; any case
  // They were given, if only as empty texts, which are refused then.
  bool group_by_given = false;
};

/// Thread-safe.
class RollupSink : public LimitedSink {
 public:
  /// Key of the tag that values get which were aggregated over series.
  [[nodiscard]] virtual std::string_view aggregate_key() const = 0;
  /// That tag's value for what was not; "" = it gets no such tag.
  [[nodiscard]] virtual std::string_view raw_value() const = 0;
  /// Checks, names and stores. Verdicts as of PointSink::AppendNamed, beside them Unsupported: no
  /// such interval is configured. Blocks.
  virtual Status Put(const NamedRollup& rollup) = 0;
};

/// Value of the tag that the callers of Put add to a rollup; "" = none. Times in milliseconds are
/// refused before OpenTSDB adds it.
inline std::string AggregateTagValue(const RollupSink& sink, std::string_view group_by,
                                     Timestamp time) {
  if (time.is_millis()) return {};
  return group_by.empty() ? std::string(sink.raw_value()) : UpperCase(group_by);
}

}  // namespace hg
