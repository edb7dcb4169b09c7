#include "tsd/tools/cell_line.h"

#include <array>

namespace hg::tsd {

std::string CellLineText(ByteView row, const Cell& cell) {
  return ToHex(row) + '\t' + cell.family + '\t' + ToHex(cell.qualifier) + '\t' + ToHex(cell.value);
}

Result<LoadedCell> ParseCellLine(std::string_view line) {
  std::array<std::string_view, 5> field;
  for (size_t i = 0; i < field.size(); ++i) {
    const size_t tab = line.find('\t');
    if ((tab == std::string_view::npos) != (i + 1 == field.size()))
      return Status::InvalidArgument("a line needs five fields between tabs");
    field[i] = line.substr(0, tab);
    line = tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1);
  }
  LoadedCell cell{std::string(field[0]), {}, Bytes(field[2]), {}, {}};
  if (!FromHex(field[1], &cell.row) || !FromHex(field[3], &cell.qualifier) ||
      !FromHex(field[4], &cell.value))
    return Status::InvalidArgument("row, qualifier and value must be hexadecimal");
  return cell;
}

}  // namespace hg::tsd
