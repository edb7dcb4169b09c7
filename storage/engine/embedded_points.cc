#include "storage/engine/embedded_points.h"

#include "storage/engine/embedded_scan.h"
#include "storage/engine/series_within.h"

namespace hg::engine {
namespace {

// The cost of deleting a row, in steps of a RequestContext.
constexpr uint64_t kStepsPerDelete = 64;

}  // namespace

Result<std::unique_ptr<PointScan>> EmbeddedPoints::Scan(const PointScanSpec& spec,
                                                        const ReconcileOptions& options) {
  ASSIGN_OR_RETURN(auto scan, EmbeddedScan::Open(engine_, spec, options, unsettled_));
  return std::unique_ptr<PointScan>(std::move(scan));
}

// Deletes row by row during the scan: the keys of many series for a year would not fit into memory.
// Writes never end the request, because the memtables of the scan are small. If the request is
// ended, a part of the rows is deleted.
Status EmbeddedPoints::DeleteRows(const PointScanSpec& spec) {
  RETURN_IF_ERROR(engine_.LeaveRoom());  // the scan keeps the current memtables in memory
  ASSIGN_OR_RETURN(const auto scan,
                   EmbeddedScan::Open(engine_, spec, {}, {}, EmbeddedScan::MayEnd::kNo));
  const Table& table = *engine_.points_table();
  std::vector<CellChange> changes;
  for (const FamilyDescriptor& family : table.descriptor.families) {
    changes.push_back({CellChange::Kind::kDeleteFamily, family.name, {}, {}, {}});
  }
  LogPosition position = 0;
  for (Bytes key;;) {
    ASSIGN_OR_RETURN(const bool more, scan->NextKey(&key));
    if (!more) return engine_.CommitAndWait(position);
    if (spec.watch != nullptr) {
      if (const Status ended = spec.watch->Step(kStepsPerDelete); !ended.ok()) {
        RETURN_IF_ERROR(engine_.CommitAndWait(position));
        return ended;
      }
    }
    RETURN_IF_ERROR(engine_.LeaveRoom());
    ASSIGN_OR_RETURN(position, engine_.Write(table, key, changes));
  }
}

Status EmbeddedPoints::ListSeries(ByteView metric, const SeriesMatcher& matcher,
                                  RequestContext* watch,
                                  const std::function<bool(ByteView tsuid)>& visit) {
  RETURN_IF_ERROR(engine_.registry().MayMatch(metric, matcher, watch));
  MemoryTally memory(watch);
  ASSIGN_OR_RETURN(const FoundSeries found, engine_.registry().Match(metric, matcher, &memory));
  for (const uint32_t series : found.numbers) {
    if (!visit(found.tsuids->Tsuid(series))) break;
  }
  return {};
}

Status EmbeddedPoints::ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher,
                                        const RowRange& rows, RequestContext* watch,
                                        const std::function<bool(ByteView tsuid)>& visit) {
  RETURN_IF_ERROR(engine_.registry().MayMatch(metric, matcher, watch));
  MemoryTally memory(watch);
  ASSIGN_OR_RETURN(FoundSeries found, engine_.registry().Candidates(metric, matcher, &memory));
  {
    // The version is pinned after Candidates, so that it has all points that were written before.
    const auto version = engine_.Pin();
    const RunningScans::Registration registration(engine_.running_scans(),
                                                  version->memtables.back()->after_sequence, watch);
    RETURN_IF_ERROR(KeepSeriesWithin(engine_, *version, metric, NotExpired(engine_, rows), watch,
                                     &found.numbers));
  }
  RETURN_IF_ERROR(engine_.registry().KeepMatches(metric, matcher, &memory, &found));
  for (const uint32_t number : found.numbers) {
    if (!visit(found.tsuids->Tsuid(number))) break;
  }
  return {};
}

Result<uint64_t> EmbeddedPoints::CountSeries(ByteView metric, RequestContext* watch) {
  RETURN_IF_ERROR(engine_.registry().MayMatch(metric, {}, watch));
  return engine_.registry().Count(metric, watch);
}

}  // namespace hg::engine
