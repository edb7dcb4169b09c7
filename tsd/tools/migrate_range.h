#pragma once
// Migrates a few rows to another store (the target). The migration compares the rows with the rows
// of the target, writes the differences, reads the rows back, and compares them again.

#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {

/// The rows that were read from the source, in ascending order.
struct SourceRows {
  std::vector<Row> rows;
  size_t bytes = 0;
  RowSum sum;
};

struct RangeReport {
  /// The number of rows and items of the target, and their checksum, before the migration changed
  /// them.
  RowSum there;
  uint64_t rows_different = 0;  // source rows that differ in the target; includes rows_missing
  uint64_t rows_missing = 0;
  uint64_t rows_extra = 0;  // number of rows that only the target has
  // Number of items that only the target has. It includes the items in rows that only the target
  // has.
  uint64_t items_extra = 0;
  uint64_t items_expired = 0;  // number of expired items of the source, which are left out
  Bytes first_different;       // key of the first row that differs; valid if rows_different > 0

  void Add(const RangeReport& other);
};

/// What the migration does with rows that differ between the source and the target.
enum class RangeWork : uint8_t {
  kCompare,  // the migration compares rows and writes nothing
  /// The migration writes the differences unconditionally. The target must have no other writers,
  /// or it must keep the cell with the newest timestamp, as HBase does.
  kWrite,
  /// The migration writes to a target that has other writers. The cells of a row in one family are
  /// changed only if they are still the same as when the row was compared; otherwise, the row is
  /// compared again. So the migration never overwrites a write of another client that it has not
  /// compared.
  kWriteBeside,
};

/// Migrates rows to one table of the target. The object is thread-safe if the store of this table
/// is thread-safe.
class RangeWriter {
 public:
  /// The store must outlive the object.
  RangeWriter(Store& there, std::string table, RowRules rules, RangeWork work)
      : there_(there), table_(std::move(table)), rules_(rules), work_(work) {}

  /// Migrates all rows that the source has in the key range [start, stop). Corruption: a row still
  /// differs after two writes. Busy: before each attempt to write a row, other writers changed the
  /// row.
  Result<RangeReport> Range(const SourceRows& source, const Bytes& start, const Bytes& stop) const;
  /// Migrates only the rows of `source`. Other rows of the target are ignored. Returns the same
  /// errors as Range.
  Result<RangeReport> Rows(const SourceRows& source) const;

  [[nodiscard]] const RowRules& rules() const { return rules_; }

 private:
  struct Found;

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
