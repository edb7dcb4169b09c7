#pragma once
// Stored series behind an evaluation: their samples, and what they are called.

#include <cstddef>
#include <functional>
#include <vector>

#include "query/label_names.h"
#include "query/label_selector.h"
#include "query/name_memo.h"
#include "query/options.h"
#include "query/promql/sample_reader.h"
#include "query/rolled_hours.h"
#include "query/side_by_side.h"
#include "storage/base/work_watch.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::query::promql {

/// Threads that may read for one query; without them its own does alone.
struct ReadingThreads {
  size_t count = 1;  // the query's own included
  SideBySide side_by_side;
};

/// One query, one thread, which others may help; remembers names.
class StoredSeries : public SampleReader {
 public:
  /// The references outlive the object. What it does and holds is reported to `watch`. `naming`:
  /// what the series are written by now. `cells`: where rollups stand that are made of the points
  /// (RolledHoursOf them), for times of which nothing else is left; nullptr: they are not read.
  StoredSeries(Points& points, uid::Names& names, const Options& options, WorkWatch& watch,
               ReadingThreads threads = {}, const LabelNaming& naming = {}, Store* cells = nullptr);

  /// Also fails where a stored id has no name. Where rollups alone are left they are given.
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override;

  /// Raw points may have gone for their age while they were read, and only their rollups are left:
  /// what was read since the last call is to be read again.
  [[nodiscard]] bool KeptMeanwhile();

  /// The TSUID of each series that the matchers admit, whenever it has samples, until `visit`
  /// fails, which is then the result.
  Status List(const Matchers& matchers, const std::function<Status(ByteView tsuid)>& visit);

  [[nodiscard]] LabelNames& names() { return names_; }

 private:
  Status ListMetric(ByteView metric, LabelSelector* selector,
                    const std::function<Status(ByteView tsuid)>& visit);
  /// What of a metric's scan is meant: nothing, all, or what the selector says of each series.
  enum class Choice : unsigned char { kNone, kAll, kAsk };
  Result<Choice> Choose(LabelSelector* selector, PointScanSpec* spec, MemoryTally* memory);
  struct Part;
  struct Plan {
    Bytes metric;
    uint32_t begin_s = 0, kept_before_s = 0;
  };
  /// What the rollups of the metric are for; remembers it.
  RolledHours PlanKept(const PointScanSpec& spec);
  /// The rows of `spec`, rolled up or not, in scans whose times follow each other.
  Status ReadKept(const RolledHours& rolled, PointScanSpec spec, RolledValue value,
                  const std::function<Status(PointScan*)>& read);
  /// Reads on several threads what was not read yet. False: scan or sink cannot be cut.
  Result<bool> ReadParts(PointScan* scan, int64_t from_ms, int64_t to_ms, SampleSink* sink,
                         size_t* series);

  Points& points_;
  const Options& options_;
  WorkWatch& watch_;
  uid::Names& uid_names_;
  NameMemo memo_;
  LabelNames names_;
  const ReadingThreads threads_;
  Store* const cells_;
  RolledHoursSource* const rolled_;  // nullptr: none
  std::vector<Plan> plans_;
};

}  // namespace hg::query::promql
