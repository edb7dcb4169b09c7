#pragma once
// A few rows of a migration: compared with the other side, written there where they differ, read
// back and compared again.

#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {

/// Rows of the source as they were read, ascending.
struct SourceRows {
  std::vector<Row> rows;
  size_t bytes = 0;
  RowSum sum;
};

struct RangeReport {
  RowSum there;                 // what the other side had before anything was written
  uint64_t rows_different = 0;  // missing rows among them
  uint64_t rows_missing = 0;
  uint64_t rows_extra = 0;     // rows that only the other side has
  uint64_t items_extra = 0;    // theirs, and those of other rows
  uint64_t items_expired = 0;  // of the source, left out
  Bytes first_different;       // key; of interest where rows_different > 0

  void Add(const RangeReport& other);
};

/// What is done where rows differ.
enum class RangeWork : uint8_t {
  kCompare,  // nothing
  kWrite,    // to a store that nobody else writes to, or that orders writes by their times
  /// To a store that others write to meanwhile: a row is changed only as it was compared, else it
  /// is compared again, so that nothing of theirs is replaced unseen.
  kWriteBeside,
};

/// One table on the side that is written to. Thread-safe as its store is.
class RangeWriter {
 public:
  /// The store outlives it.
  RangeWriter(Store& there, std::string table, RowRules rules, RangeWork work)
      : there_(there), table_(std::move(table)), rules_(rules), work_(work) {}

  /// The rows are all that the source has of [start, stop). Corruption: a row differs after it was
  /// written twice. Busy: a row is changed by others each time before it can be.
  Result<RangeReport> Range(const SourceRows& source, const Bytes& start, const Bytes& stop) const;
  /// The same for single rows, whatever stands between them.
  Result<RangeReport> Rows(const SourceRows& source) const;

  [[nodiscard]] const RowRules& rules() const { return rules_; }

 private:
  struct Found;

  /// A full memory is written to files first, where it is no other machine's.
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
