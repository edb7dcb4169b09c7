#pragma once
// Hides numbers beyond the range of a double from RapidJSON. RapidJSON refuses every document that
// contains a number of this kind. OpenTSDB's JSON library reads the number as infinite, and then
// refuses only the point that has it.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// A document in which each number that has an exponent or very many digits is replaced by 0.
struct HiddenNumbers {
  /// The document with 0 and blanks in place of each replaced number, so that all other bytes keep
  /// their positions.
  std::string document;
  /// The replaced numbers, in order. `first` is the count of numbers before this one in the
  /// document, without words such as NaN. `second` is the text of the number, a view into the
  /// original document.
  std::vector<std::pair<size_t, std::string_view>> numbers;
};

/// Scans the document once and replaces the numbers. Text that is not JSON is kept, so that the
/// parser reports it. The memory is charged to `memory`; if that fails, returns its error.
Result<HiddenNumbers> HideLongNumbers(std::string_view document, RequestMemory::Share* memory);

}  // namespace hg::http
