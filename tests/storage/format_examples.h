#pragma once
// Reads the examples of a FORMAT.md file, so that tests can compare them with the code. Examples
// are the lines of blocks that begin with "```example". A line has the form
//
//   kind words… : meaning
//
// Blanks between hexadecimal words are only for readability. A line that ends in "\" continues on
// the next line.

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/hex.h"

namespace hg {

struct FormatExample {
  std::string kind;
  std::vector<std::string> words;
  std::string meaning;

  /// Returns the words of the example from index `first` on, decoded from hexadecimal.
  [[nodiscard]] Bytes bytes(size_t first = 0) const {
    std::string hex;
    for (size_t i = first; i < words.size(); ++i) hex += words[i];
    return Hex(hex);
  }
  [[nodiscard]] int number(size_t i) const { return std::stoi(words.at(i)); }
};

inline std::vector<FormatExample> ReadFormatExamples(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<FormatExample> examples;
  bool inside = false;
  std::string whole;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```example";
      continue;
    }
    if (!inside || line.empty()) continue;
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.pop_back();
    whole += line.substr(whole.empty() ? 0 : line.find_first_not_of(' '));
    if (goes_on) continue;
    CAPTURE(whole);
    const size_t colon = whole.find(" : ");
    REQUIRE(colon != std::string::npos);
    FormatExample example;
    std::istringstream left(whole.substr(0, colon));
    left >> example.kind;
    for (std::string word; left >> word;) example.words.push_back(word);
    example.meaning = whole.substr(colon + 3);
    examples.push_back(std::move(example));
    whole.clear();
  }
  CHECK(whole.empty());
  return examples;
}

/// A function that decodes an example with the code under test, and returns its meaning. The result
/// must be equal to the meaning in the document.
using ExplainExample = std::function<std::string(const FormatExample&)>;

/// Checks each example of the document `path` with the function of its kind. Also checks that the
/// document has at least one example of each kind.
inline void CheckFormatExamples(const std::string& path,
                                const std::map<std::string, ExplainExample>& kinds) {
  std::map<std::string, int> seen;
  for (const FormatExample& example : ReadFormatExamples(path)) {
    INFO(example.kind << " : " << example.meaning);
    const auto explain = kinds.find(example.kind);
    REQUIRE(explain != kinds.end());
    CHECK(explain->second(example) == example.meaning);
    ++seen[example.kind];
  }
  for (const auto& [kind, explain] : kinds) {
    CAPTURE(kind);
    CHECK(seen[kind] > 0);
  }
}

}  // namespace hg
