#pragma once
// The progress of a migration, stored as a JSON file. A migration that was interrupted continues
// from this file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {

/// A range of keys of one table. One worker processes a part in the order of the keys.
struct MigratePart {
  /// Name of the table in the source. The table of the target is the one at the same position in
  /// the result of DescribeTables (tsd/tables.h).
  std::string table;
  Bytes start;
  Bytes stop;  // the key before which the range ends; "" = the end of the table
  Bytes at;    // the key before which all rows are migrated
  bool done = false;
  bool all_rows = false;    // whether to ignore since_ms, because the table is new
  uint64_t rows_total = 0;  // number of rows counted before the pass; 0 = rows were not counted
  RowSum sum;               // number and checksum of the source rows that this pass has read
};

struct MigrateState {
  std::string from;
  std::string to;
  int pass = 1;
  int64_t pass_began_ms = 0;
  /// If set, the pass reads only rows that have cells with this time or a later time. If not set,
  /// the pass reads all rows.
  std::optional<int64_t> since_ms;
  std::vector<MigratePart> parts;

  [[nodiscard]] bool PassDone() const;
};

std::string WriteMigrateState(const MigrateState& state);
/// Parses the text of a state file. The message of Corruption describes the error in the text.
Result<MigrateState> ReadMigrateState(std::string_view text);

}  // namespace hg::tsd
