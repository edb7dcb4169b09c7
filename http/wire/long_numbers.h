#pragma once
// Numbers beyond the range of a double. RapidJSON refuses a document that contains one, even if
// only the text is wanted. OpenTSDB's JSON library accepts it, so an infinite value must affect
// only its own point.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// A document in which numbers that have an exponent or very many digits are replaced.
struct HiddenNumbers {
  /// The document with each such number replaced by 0 and blanks, so that all positions stay the
  /// same.
  std::string document;
  /// The replaced numbers, in order. `first` is how many numbers of the document precede it; words
  /// such as NaN do not count. `second` is its text, a view into the argument.
  std::vector<std::pair<size_t, std::string_view>> numbers;
};

/// One pass. Text that is not JSON is kept, so that the parser reports it. Fails with the refusal
/// of `memory` if that refuses the memory.
Result<HiddenNumbers> HideLongNumbers(std::string_view document, RequestMemory::Share* memory);

}  // namespace hg::http
