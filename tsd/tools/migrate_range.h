#pragma once
// Migrates a few rows: compares them with the target, writes the differences, reads them back and
// compares again.

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
  RowSum there;                 // rows of the target before anything was written
  uint64_t rows_different = 0;  // including missing rows
  uint64_t rows_missing = 0;
  uint64_t rows_extra = 0;     // rows that only the target has
  uint64_t items_extra = 0;    // extra items in these and other rows
  uint64_t items_expired = 0;  // expired items of the source, which are left out
  Bytes first_different;       // its key; meaningful if rows_different > 0

  void Add(const RangeReport& other);
};

/// What to do with rows that differ.
enum class RangeWork : uint8_t {
  kCompare,  // nothing is written
  kWrite,    // for a store without other writers, or one that orders writes by their times
  /// Writes to a store that has other writers. A row is changed only if it is as it was when
  /// compared. Otherwise it is compared again, so no write of another client is overwritten unseen.
  kWriteBeside,
};

/// A table of the target. As thread-safe as its store.
class RangeWriter {
 public:
  /// The store must outlive the object.
  RangeWriter(Store& there, std::string table, RowRules rules, RangeWork work)
      : there_(there), table_(std::move(table)), rules_(rules), work_(work) {}

  /// Migrates all rows that the source has in [start, stop). Corruption: a row still differs after
  /// two writes. Busy: other writers change a row before each attempt to write it.
  Result<RangeReport> Range(const SourceRows& source, const Bytes& start, const Bytes& stop) const;
  /// Like Range, for single rows. Rows between them are ignored.
  Result<RangeReport> Rows(const SourceRows& source) const;

  [[nodiscard]] const RowRules& rules() const { return rules_; }

 private:
  struct Found;

  /// If the memory of a local store is full, flushes it and retries.
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
