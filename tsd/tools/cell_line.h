#pragma once
// Cells as lines of text. `dump` prints them, and `load` reads them with the table in front.

#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::tsd {

/// Returns "ROW <tab> FAMILY <tab> QUALIFIER <tab> VALUE" without newline. All fields except the
/// family are hexadecimal.
std::string CellLineText(ByteView row, const Cell& cell);

struct LoadedCell {
  std::string table;
  Bytes row;
  Bytes family;
  Bytes qualifier;
  Bytes value;
};

/// Parses "TABLE <tab>" and a line of that form. InvalidArgument: not five fields, or not
/// hexadecimal.
Result<LoadedCell> ParseCellLine(std::string_view line);

}  // namespace hg::tsd
