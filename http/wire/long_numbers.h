#pragma once
// Numbers beyond the range of a double. RapidJSON refuses a document that holds one, even where it
// is asked for the text alone; OpenTSDB's JSON library reads it, and what it means is for whoever
// takes it: a value that is infinite costs its own point and no other.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace hg::http {

/// A document whose numbers with an exponent or of very many digits are hidden.
struct HiddenNumbers {
  /// As long as the document, each of them 0 and blanks: what stands behind keeps its place.
  std::string document;
  /// Their text, by how many numbers stand before them (words such as NaN are none). Views into
  /// the argument.
  std::map<size_t, std::string_view> numbers;
};

/// One pass. What is no JSON stays as it is, for the parser to refuse.
HiddenNumbers HideLongNumbers(std::string_view document);

}  // namespace hg::http
