#pragma once
// Cells as lines of text. The command `dump` prints such lines. The command `load` reads lines that
// have the name of the table in front.

#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::tsd {

/// Returns the line "ROW <tab> FAMILY <tab> QUALIFIER <tab> VALUE" without a newline. All fields
/// except the family are hexadecimal.
std::string CellLineText(ByteView row, const Cell& cell);

struct LoadedCell {
  std::string table;
  Bytes row;
  Bytes family;
  Bytes qualifier;
  Bytes value;
};

/// Parses a line for `load`: the name of the table, a tab, and a line in the form of CellLineText.
/// InvalidArgument: the line does not have five fields, or a field that must be hexadecimal is not.
Result<LoadedCell> ParseCellLine(std::string_view line);

}  // namespace hg::tsd
