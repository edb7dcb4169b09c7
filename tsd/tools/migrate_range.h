#pragma once
// Migrates a few rows to another store (the target). It compares them with the rows of the target,
// writes the differences, reads the rows back and compares again.

#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {

/// Rows read from the source, ascending.
struct SourceRows {
  std::vector<Row> rows;
  size_t bytes = 0;
  RowSum sum;
};

struct RangeReport {
  RowSum there;                 // sum of the rows of the target before anything was written
  uint64_t rows_different = 0;  // includes rows_missing
  uint64_t rows_missing = 0;
  uint64_t rows_extra = 0;  // rows that only the target has
  // Items of the target that the source does not have, including those in rows that only the target
  // has.
  uint64_t items_extra = 0;
  uint64_t items_expired = 0;  // items of the source that have expired and are left out
  Bytes first_different;       // key of the first different row; meaningful if rows_different > 0

  void Add(const RangeReport& other);
};

/// The action for rows that differ.
enum class RangeWork : uint8_t {
  kCompare,  // nothing is written
  kWrite,    // writes to a store without other writers, or to one that orders writes by their times
  /// Writes to a store that has other writers. The writer changes a row only if the row is still as
  /// it was when it was compared. Otherwise it compares the row again. So it never overwrites a
  /// write of another client that it has not compared.
  kWriteBeside,
};

/// Writes to a table of the target. As thread-safe as the store of that table.
class RangeWriter {
 public:
  /// The store must outlive the object.
  RangeWriter(Store& there, std::string table, RowRules rules, RangeWork work)
      : there_(there), table_(std::move(table)), rules_(rules), work_(work) {}

  /// Migrates all rows that the source has in [start, stop). Corruption: a row still differs after
  /// two writes. Busy: other writers change a row before each attempt to write it.
  Result<RangeReport> Range(const SourceRows& source, const Bytes& start, const Bytes& stop) const;
  /// Like Range, for the given rows only. Other rows of the target are ignored.
  Result<RangeReport> Rows(const SourceRows& source) const;

  [[nodiscard]] const RowRules& rules() const { return rules_; }

 private:
  struct Found;

  /// Runs `write`. If `write` fails because the memory of a local store is full, flushes the store
  /// and runs `write` again.
  Status WithRoom(const std::function<Status()>& write) const;
  Status Settle(const SourceRows& source, Found* found) const;
  Status SettleBeside(const Row& source, Row there) const;
  Result<bool> ChangeAsItWas(const Row& there, const std::vector<CellChange>& changes) const;
  Result<std::vector<size_t>> StillDifferent(const SourceRows& source,
                                             const std::vector<size_t>& written) const;

  Store& there_;
  const std::string table_;
  const RowRules rules_;
  const RangeWork work_;
};

}  // namespace hg::tsd
