#pragma once
// Selects the columns of a row that a reader needs.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::lsm {

/// A selection of columns. Immutable. A read with selected columns returns these columns in every
/// family and the tombstones of whole families. The read may also return a column with an empty
/// qualifier. The work and the memory of the read depend on the selected columns, not on the size
/// of the row.
class ColumnChoice {
 public:
  /// Selects all columns.
  ColumnChoice() = default;
  /// Selects the columns with these qualifiers.
  explicit ColumnChoice(std::vector<Bytes> qualifiers)
      : all_(false), qualifiers_(std::move(qualifiers)) {
    std::sort(qualifiers_.begin(), qualifiers_.end());
    qualifiers_.erase(std::unique(qualifiers_.begin(), qualifiers_.end()), qualifiers_.end());
  }

  [[nodiscard]] bool all() const { return all_; }
  /// Returns the selected qualifiers, ascending and unique. The result is meaningful only if not
  /// all columns are selected.
  [[nodiscard]] const std::vector<Bytes>& qualifiers() const { return qualifiers_; }
  [[nodiscard]] bool Has(ByteView qualifier) const {
    return all_ || std::binary_search(qualifiers_.begin(), qualifiers_.end(), qualifier);
  }
  /// Returns the first selected column that is not before `column`, or nullopt if there is no such
  /// column. A column is given as one byte with the family number, followed by the qualifier.
  /// Tombstones of families have no qualifier and are always selected.
  [[nodiscard]] std::optional<Bytes> NextFrom(ByteView column) const {
    if (all_ || column.size() <= 1) return Bytes(column);
    const auto found = std::lower_bound(qualifiers_.begin(), qualifiers_.end(), column.substr(1));
    const char family = column.front();
    if (found != qualifiers_.end()) return family + *found;
    if (static_cast<uint8_t>(family) == UINT8_MAX) return std::nullopt;
    return Bytes(1, static_cast<char>(family + 1));
  }

 private:
  bool all_ = true;
  std::vector<Bytes> qualifiers_;
};

}  // namespace hg::lsm
