#pragma once
// The progress of a migration as a JSON file. An interrupted migration continues from this file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {

/// A key range of one table. One worker processes it in key order.
struct MigratePart {
  std::string table;  // name in the settings, by its position in the list of tables (tsd/tables.h)
  Bytes start;
  Bytes stop;  // the range ends before this key; "" = at the end of the table
  Bytes at;    // rows before this key are done
  bool done = false;
  bool all_rows = false;    // ignore since_ms, because the table is new
  uint64_t rows_total = 0;  // number of rows counted before the pass; 0 = not counted
  RowSum sum;               // sum of the rows that this pass has read from the source so far
};

struct MigrateState {
  std::string from;
  std::string to;
  int pass = 1;
  int64_t pass_began_ms = 0;
  /// If set, only rows with cells of this time or later are read. If not set, all rows are read.
  std::optional<int64_t> since_ms;
  std::vector<MigratePart> parts;

  [[nodiscard]] bool PassDone() const;
};

std::string WriteMigrateState(const MigrateState& state);
/// Parses the file. The message of Corruption says what is wrong with the text.
Result<MigrateState> ReadMigrateState(std::string_view text);

}  // namespace hg::tsd
