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
#include "query/side_by_side.h"
#include "storage/base/work_watch.h"
#include "storage/points/points.h"
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
  /// what the series are written by now.
  StoredSeries(Points& points, uid::Names& names, const Options& options, WorkWatch& watch,
               ReadingThreads threads = {}, const LabelNaming& naming = {});

  /// Also fails where a stored id has no name.
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override;

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
};

}  // namespace hg::query::promql
