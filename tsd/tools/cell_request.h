#pragma once
// Parses the words and options of the command `cell`.

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
/// Returns whether the verb computes one result from many rows, such as a sum.
inline bool Aggregates(CellVerb verb) { return verb >= CellVerb::kCount; }

struct CellColumn {
  Bytes family;
  std::optional<Bytes> qualifier;  // nullopt: all columns of the family
};

/// A parsed call of the command `cell`. Keys, qualifiers and values are decoded.
struct CellRequest {
  CellVerb verb = CellVerb::kGet;
  std::string table;
  Bytes row;
  std::vector<CellColumn> columns;  // a write names 0 or 1; delete with 0 removes the whole row
  Bytes value;
  int64_t by = 1;                    // kIncrement: the number to add
  std::optional<int64_t> timestamp;  // ms; put: of the cell; delete: of the newest cell to delete
  std::optional<int64_t> version;    // ms; delete: the only version to delete
  bool newest_version = false;       // delete: whether to delete only the newest version
  std::optional<int64_t> ttl_ms;     // put: the TTL of the cell
  CellColumn checked;                // check-and-…: the column that is compared
  Expected expected;                 // check-and-…: the condition for the value
  bool synced = false;               // whether a write waits until the log is on disk
  bool json = false;
  ScanSpec scan;  // rows and cells for all verbs that read, including get
  points::TextFilter filter;
  /// Whether the reader of the scan must itself remove cells and rows. This is necessary if the
  /// request names columns of several families or has a filter that counts rows, because the store
  /// cannot evaluate these. scan.limit_rows, scan.first_cell_only and scan.keys_only then apply to
  /// the cells and rows that remain.
  bool select_again = false;
};

std::span<const OptionSpec> CellOptions();

/// Parses the arguments. InvalidArgument or Unsupported: a word or option is missing, wrong or
/// unknown; the error message names it.
Result<CellRequest> ReadCellRequest(const CommandLine& line);

}  // namespace hg::tsd
