#pragma once
// Reads stored series and their labels for an evaluation.

#include <cstddef>
#include <functional>
#include <vector>

#include "query/automatic_rollup_hours.h"
#include "query/label_names.h"
#include "query/label_selector.h"
#include "query/name_memo.h"
#include "query/options.h"
#include "query/promql/sample_reader.h"
#include "query/side_by_side.h"
#include "storage/base/request_context.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query::promql {

/// The threads that may read for one query. By default the query's own thread reads alone.
struct ReadingThreads {
  size_t count = 1;  // includes the query's own thread
  SideBySide side_by_side;
};

/// Reads for one query. The query's thread calls it; helper threads may read parts. Caches names.
class StoredSeries : public SampleReader {
 public:
  /// The references must outlive the object. Work and memory are charged to `watch`. `naming` is
  /// the way in which series are written at present. `cells` has the rollup tables and `rolled`
  /// their state, for times whose raw points were deleted. If either is nullptr, rollups are not
  /// read.
  StoredSeries(Points& points, uid::Names& names, const Options& options, RequestContext& watch,
               ReadingThreads threads = {}, const LabelNaming& naming = {}, Store* cells = nullptr,
               RolledHoursSource* rolled = nullptr);

  /// Also fails if a stored id has no name. Delivers rollups for times at which nothing else is
  /// left.
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override;

  /// Returns true if retention deleted raw points while they were read, so that only their rollups
  /// are left. The caller must then repeat everything that it read since the last call.
  [[nodiscard]] bool KeptMeanwhile();

  /// Calls `visit` with the TSUID of each series that the matchers admit, whatever the times of its
  /// samples are. Stops with the first error of `visit` and returns it.
  Status List(const Matchers& matchers, const std::function<Status(ByteView tsuid)>& visit);

  [[nodiscard]] LabelNames& names() { return names_; }

 private:
  Status ListMetric(ByteView metric, LabelSelector* selector,
                    const std::function<Status(ByteView tsuid)>& visit);
  /// Which series of a metric's scan are wanted: none, all, or those that the selector admits.
  enum class Choice : unsigned char { kNone, kAll, kAsk };
  Result<Choice> Choose(LabelSelector* selector, PointScanSpec* spec, MemoryTally* memory);
  struct Part;
  struct Plan {
    Bytes metric;
    uint32_t begin_s = 0, kept_before_s = 0;
  };
  /// Returns for which time only rollups may be left of the metric, and remembers it for
  /// KeptMeanwhile.
  RolledHours PlanKept(const PointScanSpec& spec);
  /// Reads the rows of `spec`, raw and from rollups, in scans that follow each other in time.
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
