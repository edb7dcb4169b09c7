#pragma once
// Numbers beyond the range of a double. RapidJSON refuses a document that holds one, even where it
// is asked for the text alone; OpenTSDB's JSON library reads it, and what it means is for whoever
// takes it: a value that is infinite costs its own point and no other.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

/// A document whose numbers with an exponent or of very many digits are hidden.
struct HiddenNumbers {
  /// As long as the document, each of them 0 and blanks: what stands behind keeps its place.
  std::string document;
  /// In order: how many numbers stand before each (words such as NaN are none), and its text, a
  /// view into the argument.
  std::vector<std::pair<size_t, std::string_view>> numbers;
};

/// One pass. What is no JSON stays as it is, for the parser to refuse. Fails with the refusal of
/// RequestMemory::Share::Current(), which is asked for what this takes.
Result<HiddenNumbers> HideLongNumbers(std::string_view document);

}  // namespace hg::http
