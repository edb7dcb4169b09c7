#pragma once
// Wildcard matching exactly as OpenTSDB does it, oddities included (spec query.md §4.2, quirk Q5).

#include <string>
#include <string_view>
#include <vector>

namespace hg::query {

/// Immutable.
class Wildcard {
 public:
  /// `pattern` holds at least one '*'. Case is the caller's business.
  explicit Wildcard(std::string_view pattern);

  [[nodiscard]] bool Matches(std::string_view value) const;
  /// The texts between the stars, those at either end left aside.
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }

 private:
  bool starts_with_star_ = false;
  bool ends_with_star_ = false;
  std::vector<std::string> parts_;  // empty = only stars: everything matches
};

}  // namespace hg::query
