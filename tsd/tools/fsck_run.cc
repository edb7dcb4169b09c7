#include "tsd/tools/fsck_run.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "storage/base/survive.h"
#include "storage/codec/row_key.h"
#include "storage/points/render.h"
#include "tsd/tools/selected_rows.h"

namespace hg::tsd {
namespace {

constexpr uint64_t kProgressRows = 10'000;
constexpr size_t kBatchRows = 128;
/// Maximum attempts to repair a row that other writers change. After that, the row is reported and
/// not repaired.
constexpr int kRepairTriesMax = 5;

/// Divides the whole table into consecutive scans.
std::vector<ScanSpec> SplitTable(const std::string& table, const std::vector<Bytes>& bounds) {
  std::vector<ScanSpec> scans(bounds.size() + 1);
  for (size_t i = 0; i < scans.size(); ++i) {
    scans[i].table = table;
    scans[i].family = Bytes(points::kFamily);
    scans[i].batch_rows = kBatchRows;
    if (i > 0) scans[i].start = bounds[i - 1];
    if (i < bounds.size()) scans[i].stop = bounds[i];
  }
  return scans;
}

}  // namespace

/// Runs one scan on one thread.
class Fsck::Worker {
 public:
  Worker(Fsck& fsck, const ScanSpec& scan, const Selection* selection)
      : fsck_(fsck), scan_(scan), selection_(selection) {}

  Status Run() {
    Store& store = fsck_.session_.cells();
    ASSIGN_OR_RETURN(auto cursor, store.Scan(scan_));
    std::vector<Row> rows;
    while (true) {
      RETURN_IF_ERROR(cursor->Next(&rows));
      if (rows.empty()) break;
      for (Row& row : rows) {
        if (selection_ == nullptr || IsSelected(layout(), *selection_, row.key))
          RETURN_IF_ERROR(CheckRow(std::move(row)));
      }
      Report();
    }
    // As in OpenTSDB, a row is counted when the next one is read, so the last row needs an extra
    // count. It counts only if it has points.
    if (any_row_ && last_has_points_) ++counts_.rows;
    Report();
    return {};
  }

 private:
  [[nodiscard]] const KeyLayout& layout() const { return fsck_.session_.layout(); }

  Status CheckRow(Row row) {
    if (any_row_) ++counts_.rows;
    any_row_ = true;
    last_has_points_ = false;
    ASSIGN_OR_RETURN(const KeyKind kind, fsck_.CheckKey(row.key));
    switch (kind) {
      case KeyKind::kBad:
        fsck_.Log(row.key, {"not the key of a series' hour"});
        return Reject(row.key, fsck_.options_.delete_bad_rows, &FsckCounts::bad_keys,
                      &FsckCounts::bad_keys_deleted);
      case KeyKind::kOrphan:
        fsck_.Log(row.key, {"the metric or a tag has no name"});
        return Reject(row.key, fsck_.options_.delete_orphans, &FsckCounts::orphans,
                      &FsckCounts::orphans_deleted);
      case KeyKind::kGlobal:
        errors_before_global_ = std::min(errors_before_global_, found_.errors() + counts_.errors());
        return CheckCellsOf(std::move(row));
      case KeyKind::kGood:
        return CheckCellsOf(std::move(row));
    }
    return {};
  }

  /// Counts a row whose cells are not examined, and deletes it on request.
  Status Reject(const Bytes& key, bool remove, uint64_t FsckCounts::*found,
                uint64_t FsckCounts::*deleted) {
    ++(counts_.*found);
    if (!fsck_.options_.fix || !remove) return {};
    RETURN_IF_ERROR(fsck_.session_.cells().DeleteRow(scan_.table, key));
    ++(counts_.*deleted);
    return {};
  }

  Status CheckCellsOf(Row row) {
    const auto base_at = static_cast<size_t>(layout().salt_width + layout().metric_width);
    FsckOptions options = fsck_.options_;
    options.repair_appends &=
        options.fix && points::IsOldRow(ReadBig32(row.key.data() + base_at), fsck_.now_s_);
    FsckRow checked = CheckCells(row.cells, options);
    for (int tries = 1; !checked.changes.empty(); ++tries) {
      ASSIGN_OR_RETURN(const bool stored, fsck_.session_.cells().MutateIfUnchanged(
                                              points::kFamily, row.cells, scan_.table,
                                              {row.key, std::move(checked.changes)}));
      if (stored) break;
      // Another writer has changed the row, so the row is read and checked again.
      ASSIGN_OR_RETURN(row, fsck_.session_.cells().Get(scan_.table, row.key, points::kFamily));
      if (tries == kRepairTriesMax) options.fix = options.repair_appends = false;
      checked = CheckCells(row.cells, options);
    }
    counts_ += checked.counts;
    last_has_points_ = checked.has_points;
    if (!checked.findings.empty()) fsck_.Log(row.key, checked.findings);
    return {};
  }

  /// Adds the counts since the previous call to the totals.
  void Report() {
    const uint64_t before = std::min(found_.errors(), errors_before_global_);
    found_ += counts_;
    fsck_.Add(counts_, std::min(found_.errors(), errors_before_global_) - before);
    counts_ = {};
  }

  Fsck& fsck_;
  const ScanSpec& scan_;
  const Selection* const selection_;
  FsckCounts found_;   // counts that were already reported
  FsckCounts counts_;  // counts that were not reported yet
  uint64_t errors_before_global_ = UINT64_MAX;
  bool any_row_ = false;
  bool last_has_points_ = false;
};

Status Fsck::RunQueries(const WordQueries& queries, int threads) {
  std::vector<Selection> selections;
  for (const WordQuery& query : queries.queries) {
    ASSIGN_OR_RETURN(Selection selection, Select(query, session_.names()));
    selections.push_back(std::move(selection));
  }
  for (const Selection& selection : selections) {
    const auto scans = ScansOf(session_.layout(), session_.data_table(), queries, selection);
    RETURN_IF_ERROR(RunWorkers(scans, &selection, threads));
  }
  return {};
}

Status Fsck::RunFullScan(int threads) {
  const KeyLayout& layout = session_.layout();
  std::vector<Bytes> bounds;
  if (layout.salt_width > 0) {
    for (int bucket = 1; bucket < layout.salt_buckets; ++bucket)
      AppendBig(&bounds.emplace_back(), static_cast<uint64_t>(bucket), layout.salt_width);
  } else {
    ASSIGN_OR_RETURN(const int64_t highest, session_.names().HighestId(UidKind::kMetric));
    const int64_t ids = (highest + threads - 1) / threads;
    for (int64_t id = 1 + ids; ids > 0 && id <= highest; id += ids)
      AppendBig(&bounds.emplace_back(), static_cast<uint64_t>(id), layout.metric_width);
  }
  return RunWorkers(SplitTable(session_.data_table(), bounds), nullptr, threads);
}

Status Fsck::RunWorkers(const std::vector<ScanSpec>& scans, const Selection* selection,
                        int threads) {
  std::atomic<size_t> next = 0;
  std::vector<Status> outcomes(scans.size());
  {
    const auto work = [&] {
      for (size_t i = next++; i < scans.size(); i = next++)
        outcomes[i] = Survive([&] { return Worker(*this, scans[i], selection).Run(); });
    };
    std::vector<std::jthread> pool;
    // If no threads can be started, the existing ones do the work.
    (void)Survive([&] {
      for (size_t i = 1; i < std::min(scans.size(), static_cast<size_t>(threads)); ++i)
        pool.emplace_back(work);
    });
    work();
  }
  for (const Status& outcome : outcomes) RETURN_IF_ERROR(outcome);
  return {};
}

Result<Fsck::KeyKind> Fsck::CheckKey(ByteView key) {
  if (codec::IsGlobalRowKey(session_.layout(), key)) return KeyKind::kGlobal;
  const auto row = codec::RowKey::Decode(session_.layout(), key);
  if (!row.ok()) return KeyKind::kBad;
  uid::Names& names = session_.names();
  Status named = names.NameOf(UidKind::kMetric, row->metric()).status();
  for (size_t i = 0; i < row->pair_count() && named.ok(); ++i) {
    named = names.NameOf(UidKind::kTagk, row->tagk(i)).status();
    if (named.ok()) named = names.NameOf(UidKind::kTagv, row->tagv(i)).status();
  }
  if (named.code() == StatusCode::kNotFound) return KeyKind::kOrphan;
  RETURN_IF_ERROR(named);
  return KeyKind::kGood;
}

void Fsck::Log(ByteView key, const std::vector<std::string>& findings) {
  std::lock_guard lock(mutex_);
  for (const std::string& finding : findings)
    log_ << "row " << ToHexUpper(key) << ": " << finding << "\n";
}

void Fsck::Add(const FsckCounts& counts, uint64_t errors_in_status) {
  std::lock_guard lock(mutex_);
  const uint64_t before = counts_.rows / kProgressRows;
  counts_ += counts;
  errors_in_status_ += errors_in_status;
  if (counts_.rows / kProgressRows > before)
    log_ << "Processed " << counts_.rows << " rows, " << counts_.valid_points
         << " valid datapoints\n";
}

}  // namespace hg::tsd
