#include "query/plan/wildcard.h"

namespace hg::query {

Wildcard::Wildcard(std::string_view pattern) {
  size_t begin = pattern.find_first_not_of('*');
  if (begin == std::string_view::npos) return;
  size_t end = pattern.find_last_not_of('*') + 1;
  starts_with_star_ = begin > 0;
  ends_with_star_ = end < pattern.size();
  std::string_view inner = pattern.substr(begin, end - begin);
  parts_bytes_ = inner.size();
  for (size_t at = 0;;) {
    size_t star = inner.find('*', at);
    if (star == std::string_view::npos) {
      parts_.emplace_back(inner.substr(at));
      return;
    }
    parts_.emplace_back(inner.substr(at, star - at));
    at = star + 1;
  }
}

bool Wildcard::Matches(std::string_view value) const {
  if (parts_.empty()) return true;
  if (starts_with_star_ && !ends_with_star_ && !value.ends_with(parts_.back())) return false;
  if (ends_with_star_ && !starts_with_star_ && !value.starts_with(parts_.front())) return false;
  size_t from = 0;
  for (const std::string& part : parts_) {
    if (from > value.size() || value.find(part, from) == std::string_view::npos) return false;
    from += part.size();  // advances by the length only, not to the end of the match (quirk Q5)
  }
  return true;
}

}  // namespace hg::query
