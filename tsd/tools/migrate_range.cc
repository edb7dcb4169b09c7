#include "tsd/tools/migrate_range.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "storage/for_each_row.h"
#include "tsd/tools/migrate_reader.h"
#include "tsd/tools/tools.h"
#include "tsd/tools/with_room.h"

namespace hg::tsd {
namespace {

/// Maximum attempts for a row that others change concurrently.
constexpr int kRowTries = 1000;

}  // namespace

void RangeReport::Add(const RangeReport& other) {
  if (rows_different == 0) first_different = other.first_different;
  there.Add(other.there);
  rows_different += other.rows_different;
  rows_missing += other.rows_missing;
  rows_extra += other.rows_extra;
  items_extra += other.items_extra;
  items_expired += other.items_expired;
}

struct RangeWriter::Found {
  Found(const SourceRows& source, RangeWork work) : source(source), work(work) {}

  /// Compares row `i` of the source with `row`, the row of the target. If the target does not have
  /// the row, `row` has no cells.
  void Compare(size_t i, const Row& row, const RowRules& rules) {
    const RowDifference difference = CompareRows(source.rows[i], row, rules);
    report.items_extra += difference.extra_items;
    if (!row.empty()) report.there.Add(SumOfRow(row, rules));
    if (difference.changes.empty()) return;
    if (report.rows_different++ == 0) report.first_different = source.rows[i].key;
    report.rows_missing += row.empty() ? 1 : 0;
    changed.push_back(i);
    if (work == RangeWork::kWriteBeside) {
      there.push_back(row);
    } else {
      mutations.push_back({source.rows[i].key, difference.changes});
    }
  }

  const SourceRows& source;
  const RangeWork work;
  RangeReport report;
  std::vector<size_t> changed;  // indexes in source.rows
  std::vector<RowMutation> mutations;
  std::vector<Row> there;       // replaces `mutations` for RangeWork::kWriteBeside
  std::vector<Bytes> unwanted;  // rows to be deleted
};

Result<RangeReport> RangeWriter::Range(const SourceRows& source, const Bytes& start,
                                       const Bytes& stop) const {
  Found found(source, work_);
  size_t next = 0;
  const auto missing_until = [&](const Bytes* key) {
    for (; next < source.rows.size() && (key == nullptr || source.rows[next].key < *key); ++next) {
      found.Compare(next, Row{source.rows[next].key, {}}, rules_);
    }
  };
  ScanSpec spec;
  spec.table = table_;
  spec.start = start;
  spec.stop = stop;
  spec.batch_bytes = 4 << 20;
  spec.fill_cache = false;
  RETURN_IF_ERROR(ForEachRow(there_, spec, [&](const Row& row) {
    missing_until(&row.key);
    if (next < source.rows.size() && source.rows[next].key == row.key) {
      found.Compare(next++, row, rules_);
      return Status();
    }
    const RowSum sum = SumOfRow(row, rules_);
    found.report.there.Add(sum);
    found.report.rows_extra += 1;
    found.report.items_extra += sum.items;
    if (rules_.remove_extra) found.unwanted.push_back(row.key);
    return Status();
  }));
  missing_until(nullptr);
  RETURN_IF_ERROR(Settle(source, &found));
  return found.report;
}

Result<RangeReport> RangeWriter::Rows(const SourceRows& source) const {
  Found found(source, work_);
  std::vector<Bytes> keys;
  for (const Row& row : source.rows) keys.push_back(row.key);
  ASSIGN_OR_RETURN(const std::vector<Row> rows, GetWholeRows(there_, table_, keys));
  for (size_t i = 0; i < rows.size(); ++i) found.Compare(i, rows[i], rules_);
  RETURN_IF_ERROR(Settle(source, &found));
  return found.report;
}

Status RangeWriter::Settle(const SourceRows& source, Found* found) const {
  if (work_ == RangeWork::kCompare) return {};
  if (work_ == RangeWork::kWriteBeside) {
    for (size_t i = 0; i < found->changed.size(); ++i) {
      RETURN_IF_ERROR(SettleBeside(source.rows[found->changed[i]], std::move(found->there[i])));
    }
    return {};
  }
  for (const Bytes& key : found->unwanted) {
    RETURN_IF_ERROR(WithRoom(there_, [&] { return there_.DeleteRow(table_, key); }));
  }
  if (found->mutations.empty()) return {};
  RETURN_IF_ERROR(WithRoom(there_, [&] { return there_.Mutate(table_, found->mutations); }));
  ASSIGN_OR_RETURN(std::vector<size_t> different, StillDifferent(source, found->changed));
  if (different.empty()) return {};
  // Some rows still differ, because a delete in the target is newer than the source's cells and
  // hides them. So their cells are written again, with the current time.
  RowRules now = rules_;
  now.keep_times = false;
  std::vector<RowMutation> mutations;
  for (const size_t i : different) {
    ASSIGN_OR_RETURN(const Row row, there_.GetCells(table_, source.rows[i].key, {}));
    RowDifference rest = CompareRows(source.rows[i], row, now);
    if (!rest.changes.empty()) mutations.push_back({row.key, std::move(rest.changes)});
  }
  RETURN_IF_ERROR(WithRoom(there_, [&] { return there_.Mutate(table_, mutations); }));
  ASSIGN_OR_RETURN(different, StillDifferent(source, different));
  if (different.empty()) return {};
  return Status::Corruption("row " + ToHex(source.rows[different[0]].key) + " of table " + table_ +
                            " differs from the data that was written to it");
}

Status RangeWriter::SettleBeside(const Row& source, Row there) const {
  RowRules rules = rules_;
  for (int i = 0; i < kRowTries; ++i) {
    const RowDifference difference = CompareRows(source, there, rules);
    if (difference.changes.empty()) return {};
    ASSIGN_OR_RETURN(const bool changed, ChangeAsItWas(there, difference.changes));
    // If the row still differs after a successful write, a newer delete hides the written cells. So
    // the next write uses the current time, as in Settle.
    if (changed) rules.keep_times = false;
    ASSIGN_OR_RETURN(there, there_.GetCells(table_, source.key, {}));
    there.key = source.key;
  }
  return Status::Busy("row " + ToHex(source.key) + " of table " + table_ +
                      " was changed by other writers before each attempt to write it, or does not "
                      "return what was written");
}

/// Applies the changes, family by family, if the row is still equal to `there`. Returns false if a
/// family has changed; the changes of other families may then be applied.
Result<bool> RangeWriter::ChangeAsItWas(const Row& there,
                                        const std::vector<CellChange>& changes) const {
  std::map<Bytes, RowMutation> of_family;
  for (const CellChange& change : changes) {
    RowMutation& mutation = of_family[change.family];
    mutation.key = there.key;
    mutation.changes.push_back(change);
  }
  for (const auto& [family, mutation] : of_family) {
    std::vector<Cell> cells;
    std::copy_if(there.cells.begin(), there.cells.end(), std::back_inserter(cells),
                 [&wanted = family](const Cell& cell) { return cell.family == wanted; });
    bool unchanged = false;
    RETURN_IF_ERROR(WithRoom(there_, [&, &family = family, &mutation = mutation]() -> Status {
      ASSIGN_OR_RETURN(unchanged, there_.MutateIfUnchanged(family, cells, table_, mutation));
      return {};
    }));
    if (!unchanged) return false;
  }
  return true;
}

Result<std::vector<size_t>> RangeWriter::StillDifferent(const SourceRows& source,
                                                        const std::vector<size_t>& written) const {
  std::vector<Bytes> keys;
  for (const size_t i : written) keys.push_back(source.rows[i].key);
  ASSIGN_OR_RETURN(const std::vector<Row> rows, GetWholeRows(there_, table_, keys));
  std::vector<size_t> different;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!CompareRows(source.rows[written[i]], rows[i], rules_).changes.empty()) {
      different.push_back(written[i]);
    }
  }
  return different;
}

}  // namespace hg::tsd
