#pragma once
// Reads the words and options of the command cell.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/points/filter_text.h"
#include "storage/store.h"
#include "tsd/command_line.h"

namespace hg::tsd {

enum class CellVerb : uint8_t {
  kGet,
  kPut,
  kAppend,
  kIncrement,
  kDelete,
  kCheckAndPut,
  kCheckAndDelete,
  kScan,
  kCount,
  kSum,
  kMin,
  kMax,
  kAvg,
};

inline bool WritesCells(CellVerb verb) {
  return verb >= CellVerb::kPut && verb <= CellVerb::kCheckAndDelete;
}
/// Returns whether the verb computes one result from many rows.
inline bool Aggregates(CellVerb verb) { return verb >= CellVerb::kCount; }

struct CellColumn {
  Bytes family;
  std::optional<Bytes> qualifier;  // none: the whole family
};

/// The objects that the words and options name. Keys, qualifiers and values are decoded.
struct CellRequest {
  CellVerb verb = CellVerb::kGet;
  std::string table;
  Bytes row;
  std::vector<CellColumn> columns;  // writes: at most one; none = the whole row
  Bytes value;
  int64_t by = 1;                    // kIncrement
  std::optional<int64_t> timestamp;  // ms. put: of the cell; delete: of the newest deleted cell
  std::optional<int64_t> version;    // ms; delete: only this version
  bool newest_version = false;       // delete: only the newest version
  std::optional<int64_t> ttl_ms;     // put
  CellColumn checked;                // check-and-…: this column is compared
  Expected expected;                 // check-and-…
  bool synced = false;               // writes: wait until the log is on disk
  bool json = false;
  ScanSpec scan;  // rows and cells that a read (get included) selects
  points::TextFilter filter;
  /// True if the reader of the scan must remove cells and rows that the store cannot exclude:
  /// columns of several families, or a filter that counts rows. scan.limit_rows,
  /// scan.first_cell_only and scan.keys_only then apply to the remaining cells and rows.
  bool select_again = false;
};

std::span<const OptionSpec> CellOptions();

/// InvalidArgument or Unsupported: a word or option is missing, wrong or unknown; the message names
/// it.
Result<CellRequest> ReadCellRequest(const CommandLine& line);

}  // namespace hg::tsd
