#pragma once
// Reads stored series and their labels for the evaluation of PromQL.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "query/promql/label_names.h"
#include "query/promql/label_selector.h"
#include "query/promql/sample_reader.h"
#include "query/request/options.h"
#include "query/request/side_by_side.h"
#include "query/rows/automatic_rollup_hours.h"
#include "query/series/name_memo.h"
#include "storage/base/request_context.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query::promql {

/// The threads that may read samples for one query. By default, only the thread that runs the query
/// reads.
struct ReadingThreads {
  size_t count = 1;  // number of threads, including the thread that runs the query
  SideBySide side_by_side;
};

/// Reads stored series for one query, and caches names. Only the thread that runs the query may
/// call the functions of this class. They may use helper threads to read parts of a scan.
class StoredSeries : public SampleReader {
 public:
  /// All objects that are passed by reference or by pointer must outlive the object, except
  /// `naming`. Work and memory are charged to `watch`. `naming` has the current settings for the
  /// names of written series. `cells` is the store with the rollup tables, and `rolled` has the
  /// state of these tables. Both are used for times whose raw points were deleted. If `cells` or
  /// `rolled` is nullptr, the object does not read rollups.
  StoredSeries(Points& points, uid::Names& names, const Options& options, RequestContext& watch,
               ReadingThreads threads = {}, const LabelNaming& naming = {}, Store* cells = nullptr,
               RolledHoursSource* rolled = nullptr);

  /// Passes raw points to the sink, and rollups for times at which raw points were deleted.
  /// NotFound: a UID of a stored series has no name. Also returns the errors of SampleReader::Read.
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override;

  /// Returns true if retention has deleted raw points of the times that this object has read since
  /// the previous call of KeptMeanwhile. In this case, the samples may be incomplete, and the
  /// caller must read them again. Fails if `watch` ends the request.
  Result<bool> KeptMeanwhile();

  /// A range of times, which includes both ends.
  struct Times {
    int64_t from_ms = 0, to_ms = 0;
  };
  /// Calls `visit` with the TSUID of each series that the matchers select. If `times` is set,
  /// series without samples in that range are left out. For this purpose, the range is widened to
  /// whole days (UTC), or to whole hours if the store knows the hours of a series. If retention
  /// deleted raw points of a metric in the range, all selected series of the metric are visited,
  /// because rollups may remain. Stops at the first error of `visit` and returns this error.
  Status List(const Matchers& matchers, const std::optional<Times>& times,
              const std::function<Status(ByteView tsuid)>& visit);

  [[nodiscard]] LabelNames& names() { return names_; }

 private:
  /// Calls `visit` for the series of the metric that have rows in `rows` and that the selector
  /// accepts. If `metric` is empty, visits the series of all metrics.
  Status ListMetric(ByteView metric, const RowRange& rows, LabelSelector* selector,
                    const std::function<Status(ByteView tsuid)>& visit);
  /// The series of a metric that a scan must read. kNone: no series. kAll: all series that the scan
  /// returns. kAsk: the series that LabelSelector::Admits accepts.
  enum class Choice : unsigned char { kNone, kAll, kAsk };
  Result<Choice> Choose(LabelSelector* selector, PointScanSpec* spec, MemoryTally* memory);
  struct Part;
  /// Returns the state of the rollups of the metric, for hours whose raw points retention may have
  /// deleted. Remembers this state for KeptMeanwhile.
  Result<RolledHours> PlanKept(const PointScanSpec& spec);
  /// Reads the rows of `spec` in several scans, one after another in the order of time. Each scan
  /// returns either raw points or rollups. `value` is the value of a rollup interval that the sink
  /// needs. `read` is called with each scan.
  Status ReadKept(const RolledHours& rolled, PointScanSpec spec, RolledValue value,
                  const std::function<Status(PointScan*)>& read);
  /// Reads the rest of the scan on several threads. Adds the number of series that were read to
  /// `*series`. Returns false if the scan or the sink cannot be divided into parts.
  Result<bool> ReadParts(PointScan* scan, int64_t from_ms, int64_t to_ms, SampleSink* sink,
                         size_t* series);

  Points& points_;
  const Options& options_;
  RequestContext& watch_;
  uid::Names& uid_names_;
  NameMemo memo_;
  LabelNames names_;
  const ReadingThreads threads_;
  Store* const cells_;
  RolledHoursSource* const rolled_;  // nullptr: rollups are not read
  // For each metric and first second that Read has read: the value of RolledHours::kept_before_s at
  // the first of these reads.
  std::map<std::pair<Bytes, uint32_t>, uint32_t> plans_;
  MemoryTally plans_memory_{&watch_};
};

}  // namespace hg::query::promql
