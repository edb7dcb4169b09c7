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
/// Returns whether the verb computes one result from many rows, for example a sum.
inline bool Aggregates(CellVerb verb) { return verb >= CellVerb::kCount; }

struct CellColumn {
  Bytes family;
  std::optional<Bytes> qualifier;  // qualifier of the column; nullopt: all columns of the family
};

/// The parsed words and options of the command `cell`. Keys, qualifiers and values are decoded.
struct CellRequest {
  CellVerb verb = CellVerb::kGet;
  std::string table;
  Bytes row;
  /// A write has 0 or 1 columns; delete with 0 columns removes the whole row.
  std::vector<CellColumn> columns;
  Bytes value;
  int64_t by = 1;  // for kIncrement: the number to add
  /// In milliseconds. For put: the time of the cell. For delete: the time of the newest cell to
  /// delete.
  std::optional<int64_t> timestamp;
  /// For delete: the time of the only version to delete, in milliseconds.
  std::optional<int64_t> version;
  bool newest_version = false;    // for delete: whether to delete only the newest version
  std::optional<int64_t> ttl_ms;  // for put, append and increment: the TTL of the cell in ms
  CellColumn checked;             // for check-and-put/delete: the column whose value is compared
  Expected expected;              // for check-and-put/delete: the expected value of the column
  bool synced = false;            // whether a write waits until the log is on the disk
  bool json = false;
  ScanSpec scan;  // the rows and cells to read, for all verbs that read, including get
  points::TextFilter filter;
  /// Whether the command itself must remove cells and rows from the rows that the scan returns.
  /// This is necessary if the request names columns of several families, or if it has a filter that
  /// counts rows, because the store cannot evaluate such requests. In this case, scan.limit_rows,
  /// scan.first_cell_only and scan.keys_only apply to the cells and rows that remain.
  bool select_again = false;
};

std::span<const OptionSpec> CellOptions();

/// Parses the words and options. InvalidArgument or Unsupported: a word or an option is missing,
/// invalid or unknown; the error message contains the word or option.
Result<CellRequest> ReadCellRequest(const CommandLine& line);

}  // namespace hg::tsd
