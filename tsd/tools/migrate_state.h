#pragma once
// How far a migration has come, as a file of JSON: what an interrupted one goes on from.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {

/// A stretch of one table's keys, done by one worker from its first key to its last.
struct MigratePart {
  std::string table;  // by its place in the list of tables (tsd/tables.h): its name in the settings
  Bytes start;
  Bytes stop;  // "" = end of the table
  Bytes at;    // rows before it are done
  bool done = false;
  bool all_rows = false;    // in spite of the state's since_ms: its table is new
  uint64_t rows_total = 0;  // counted beforehand; 0 = not counted
  RowSum sum;               // of the rows done in this pass, as the source had them
};

struct MigrateState {
  std::string from;
  std::string to;
  int pass = 1;
  int64_t pass_began_ms = 0;
  /// Only rows with cells of this time or later are looked at; none = all rows.
  std::optional<int64_t> since_ms;
  std::vector<MigratePart> parts;

  [[nodiscard]] bool PassDone() const;
};

std::string WriteMigrateState(const MigrateState& state);
/// Corruption names what is wrong with the text.
Result<MigrateState> ReadMigrateState(std::string_view text);

}  // namespace hg::tsd
