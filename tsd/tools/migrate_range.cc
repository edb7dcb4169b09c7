#include "tsd/tools/migrate_range.h"

#include <utility>

#include "storage/for_each_row.h"
#include "tsd/tools/migrate_reader.h"

namespace hg::tsd {
namespace {

constexpr int kBusyRetries = 10;

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
  explicit Found(const SourceRows& source) : source(source) {}

  /// A row of both sides, or of the source alone: then it has no cells here.
  void Compare(size_t i, const Row& row, const RowRules& rules) {
    const RowDifference difference = CompareRows(source.rows[i], row, rules);
    report.items_extra += difference.extra_items;
    if (!row.empty()) report.there.Add(SumOfRow(row, rules));
    if (difference.changes.empty()) return;
    if (report.rows_different++ == 0) report.first_different = source.rows[i].key;
    report.rows_missing += row.empty() ? 1 : 0;
    changed.push_back(i);
    mutations.push_back({source.rows[i].key, difference.changes});
  }

  const SourceRows& source;
  RangeReport report;
  std::vector<size_t> changed;  // places in source.rows
  std::vector<RowMutation> mutations;
  std::vector<Bytes> unwanted;  // rows to be removed
};

Result<RangeReport> RangeWriter::Range(const SourceRows& source, const Bytes& start,
                                       const Bytes& stop) const {
  Found found(source);
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
  Found found(source);
  std::vector<Bytes> keys;
  for (const Row& row : source.rows) keys.push_back(row.key);
  ASSIGN_OR_RETURN(const std::vector<Row> rows, GetWholeRows(there_, table_, keys));
  for (size_t i = 0; i < rows.size(); ++i) found.Compare(i, rows[i], rules_);
  RETURN_IF_ERROR(Settle(source, &found));
  return found.report;
}

// What a mutation says may be written again.
Status RangeWriter::WithRoom(const std::function<Status()>& write) const {
  Status written = write();
  for (int i = 0; i < kBusyRetries && written.code() == StatusCode::kBusy; ++i) {
    const Status flushed = there_.Flush();
    if (flushed.code() == StatusCode::kUnsupported) return written;
    RETURN_IF_ERROR(flushed);
    written = write();
  }
  return written;
}

Status RangeWriter::Settle(const SourceRows& source, Found* found) const {
  if (only_compare_) return {};
  for (const Bytes& key : found->unwanted) {
    RETURN_IF_ERROR(WithRoom([&] { return there_.DeleteRow(table_, key); }));
  }
  if (found->mutations.empty()) return {};
  RETURN_IF_ERROR(WithRoom([&] { return there_.Mutate(table_, found->mutations); }));
  ASSIGN_OR_RETURN(std::vector<size_t> different, StillDifferent(source, found->changed));
  if (different.empty()) return {};
  // The other side has deleted such a column later than the source wrote it, which hides what is
  // put with the source's time: it takes the time of this write.
  RowRules now = rules_;
  now.keep_times = false;
  std::vector<RowMutation> mutations;
  for (const size_t i : different) {
    ASSIGN_OR_RETURN(const Row row, there_.GetCells(table_, source.rows[i].key, {}));
    RowDifference rest = CompareRows(source.rows[i], row, now);
    if (!rest.changes.empty()) mutations.push_back({row.key, std::move(rest.changes)});
  }
  RETURN_IF_ERROR(WithRoom([&] { return there_.Mutate(table_, mutations); }));
  ASSIGN_OR_RETURN(different, StillDifferent(source, different));
  if (different.empty()) return {};
  return Status::Corruption("row " + ToHex(source.rows[different[0]].key) + " of table " + table_ +
                            " is not what was written to it");
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
