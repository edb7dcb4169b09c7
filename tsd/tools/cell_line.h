#pragma once
// Cells as lines of text: what `dump` prints and, with the table in front, `load` reads.

#include <string>
#include <string_view>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::tsd {

/// "ROW <tab> FAMILY <tab> QUALIFIER <tab> VALUE", all but the family in hexadecimal; no line end.
std::string CellLineText(ByteView row, const Cell& cell);

struct LoadedCell {
  std::string table;
  Bytes row;
  Bytes family;
  Bytes qualifier;
  Bytes value;
};

/// A line of that form behind "TABLE <tab>". InvalidArgument: not five fields, or no hexadecimal.
Result<LoadedCell> ParseCellLine(std::string_view line);

}  // namespace hg::tsd
