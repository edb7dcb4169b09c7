#include "http/wire/percent.h"

#include "storage/base/hex_digit.h"
#include "storage/model/utf8.h"

namespace hg::http {

bool DecodePercent(std::string_view text, std::string* out) {
  out->clear();
  out->reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+') {
      out->push_back(' ');
    } else if (c != '%') {
      out->push_back(c);
    } else {
      int high = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
      int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      out->push_back(static_cast<char>(high << 4 | low));
      i += 2;
    }
  }
  return true;
}

/// Memory of a name and its value: two texts, counted twice because a growing list has spare
/// capacity.
constexpr uint64_t kPairBytes = 2 * 2 * sizeof(std::string);

bool ParseQueryString(std::string_view query, Parameters* parameters,
                      RequestMemory::Share* memory) {
  while (!query.empty()) {
    size_t end = query.find_first_of("&;");
    std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    size_t equals = pair.find('=');
    std::string name, value;
    if (!DecodePercent(pair.substr(0, equals), &name)) return false;
    if (equals != std::string_view::npos && !DecodePercent(pair.substr(equals + 1), &value)) {
      return false;
    }
    ReplaceInvalidUtf8(&name);
    ReplaceInvalidUtf8(&value);
    if (memory != nullptr && !memory->Take(kPairBytes + name.size() + value.size())) return false;
    if (!name.empty()) parameters->Add(std::move(name), std::move(value));
  }
  return true;
}

}  // namespace hg::http
