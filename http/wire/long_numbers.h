#pragma once
// Hides numbers beyond the range of a double from RapidJSON, which rejects each document that has
// such a number. OpenTSDB's JSON library parses the number as infinite, and then rejects only the
// point that has it.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// A document in which 0 replaces each number that has an exponent or very many digits.
struct HiddenNumbers {
  /// The document. It has 0 and blanks in place of each replaced number, so all other bytes keep
  /// their positions.
  std::string document;
  /// The replaced numbers, in order. `first` is the index of the replaced number among all numbers
  /// of the document, not counting words such as NaN. `second` is the text of the number, a view of
  /// the original document.
  std::vector<std::pair<size_t, std::string_view>> numbers;
};

/// Scans the document once and replaces the numbers. Keeps text that is not JSON, so that the
/// parser reports it. Charges the memory to `memory`; if that fails, returns the error of `memory`.
Result<HiddenNumbers> HideLongNumbers(std::string_view document, RequestMemory::Share* memory);

}  // namespace hg::http
