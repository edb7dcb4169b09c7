#pragma once
// The examples of storage/points/FORMAT.md: lines of hexadecimal digits under a heading; blanks are
// for the eye, and a line that ends in "\" goes on in the next.

#include <fstream>
#include <string>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::points {

inline std::vector<Bytes> DocumentedExamples(const std::string& heading) {
  std::ifstream in(HG_SOURCE_DIR "/storage/points/FORMAT.md");
  std::vector<Bytes> examples;
  bool inside = false;
  std::string hex;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) inside = line == heading;
    std::erase(line, ' ');
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.pop_back();
    hex += line;
    if (goes_on) continue;
    Bytes bytes;
    if (inside && !hex.empty() && FromHex(hex, &bytes)) examples.push_back(bytes);
    hex.clear();
  }
  return examples;
}

}  // namespace hg::points
