#pragma once
// Reads stored series and their labels for an evaluation.

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

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

/// The threads that may read for one query. By default, only the query's own thread reads.
struct ReadingThreads {
  size_t count = 1;  // includes the query's own thread
  SideBySide side_by_side;
};

/// Reads stored series for one query, and caches names. The query's thread calls its functions.
/// Helper threads may read parts of a scan.
class StoredSeries : public SampleReader {
 public:
  /// The references must outlive the object. Work and memory are charged to `watch`. `naming` has
  /// the current settings for names of written series. `cells` has the rollup tables and `rolled`
  /// has their state. Both are used for times whose raw points were deleted. If either is nullptr,
  /// the object does not read rollups.
  StoredSeries(Points& points, uid::Names& names, const Options& options, RequestContext& watch,
               ReadingThreads threads = {}, const LabelNaming& naming = {}, Store* cells = nullptr,
               RolledHoursSource* rolled = nullptr);

  /// Delivers raw points, and rollups for times at which raw points were deleted. Besides the
  /// errors of SampleReader::Read, fails if a stored id has no name.
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override;

  /// Returns true if retention deleted raw points since the last call while this object read them.
  /// The samples read since that call may then be incomplete, and the caller must read them again.
  [[nodiscard]] bool KeptMeanwhile();

  /// A range of times, which includes both ends.
  struct Times {
    int64_t from_ms = 0, to_ms = 0;
  };
  /// Calls `visit` with the TSUID of each series that the matchers admit. If `times` is set, leaves
  /// out series without samples there. The range is rounded to the days (UTC) that it touches, or
  /// to hours if the store knows them. If retention deleted raw points of the metric in the range,
  /// visits all series of the metric, because rollups may remain. Stops with the first error of
  /// `visit` and returns it.
  Status List(const Matchers& matchers, const std::optional<Times>& times,
              const std::function<Status(ByteView tsuid)>& visit);

  [[nodiscard]] LabelNames& names() { return names_; }

 private:
  /// Visits series of the metric ("" = of all metrics) with rows in `rows`.
  Status ListMetric(ByteView metric, const RowRange& rows, LabelSelector* selector,
                    const std::function<Status(ByteView tsuid)>& visit);
  /// The series of a metric that a scan must read: none, all, or those that the selector
  /// admits.
  enum class Choice : unsigned char { kNone, kAll, kAsk };
  Result<Choice> Choose(LabelSelector* selector, PointScanSpec* spec, MemoryTally* memory);
  struct Part;
  struct Plan {
    Bytes metric;
    uint32_t begin_s = 0, kept_before_s = 0;
  };
  /// Returns the hours of the metric whose raw points may have been deleted, so that only rollups
  /// remain. Stores the result for KeptMeanwhile.
  RolledHours PlanKept(const PointScanSpec& spec);
  /// Reads the rows of `spec` in several scans, one after the other in time. Each scan reads either
  /// raw points or rollups.
  Status ReadKept(const RolledHours& rolled, PointScanSpec spec, RolledValue value,
                  const std::function<Status(PointScan*)>& read);
  /// Reads the rest of the scan on several threads. Returns false if the scan or the sink cannot be
  /// divided.
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
  RolledHoursSource* const rolled_;  // nullptr = rollups are not read
  std::vector<Plan> plans_;
};

}  // namespace hg::query::promql
