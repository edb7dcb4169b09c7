#pragma once
// Hides numbers beyond the range of a double from RapidJSON. RapidJSON would reject the whole
// document because of such a number. OpenTSDB's JSON library parses such a number as infinite, and
// OpenTSDB then rejects only the point with this number.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// A document in which 0 has replaced each number that has an exponent or very many digits.
struct HiddenNumbers {
  /// The document after the replacement. Each replaced number became 0 and blanks, so that all
  /// other bytes keep their positions.
  std::string document;
  /// The replaced numbers, in order. `first` is the index of the number among all numbers of the
  /// document; words such as NaN do not count as numbers. `second` is the text of the number, a
  /// view of the original document.
  std::vector<std::pair<size_t, std::string_view>> numbers;
};

/// Scans the document once and replaces the numbers. Text that is not JSON stays in the document,
/// so that the parser reports it. The memory is charged to `memory`; if charging fails, the
/// function returns the error of `memory`.
Result<HiddenNumbers> HideLongNumbers(std::string_view document, RequestMemory::Share* memory);

}  // namespace hg::http
