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
#include "storage/base/work_watch.h"
#include "storage/points/points.h"
#include "uid/names.h"

namespace hg::query::promql {

/// One query, one thread; remembers names.
class StoredSeries : public SampleReader {
 public:
  /// All outlive the object. What it does and holds is reported to `watch`.
  StoredSeries(Points& points, uid::Names& names, const Options& options, WorkWatch& watch);

  /// Also fails where a stored id has no name.
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override;

  /// The TSUID of each series that the matchers admit, whenever it has samples, until `visit`
  /// fails, which is then the result.
  Status List(const Matchers& matchers, const std::function<Status(ByteView tsuid)>& visit);

  [[nodiscard]] LabelNames& names() { return names_; }

 private:
  Status ListMetric(ByteView metric, LabelSelector* selector,
                    const std::function<Status(ByteView tsuid)>& visit);
  /// What to scan of a metric. None: nothing of it is selected.
  Result<bool> Choose(LabelSelector* selector, PointScanSpec* spec, MemoryTally* memory);

  Points& points_;
  const Options& options_;
  WorkWatch& watch_;
  NameMemo memo_;
  LabelNames names_;
};

}  // namespace hg::query::promql
