#pragma once
// Matches wildcard patterns exactly as OpenTSDB does, including its peculiarities
// (opentsdb-queries.md §4.2, quirk Q5).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query {

/// A wildcard pattern in a tag filter. It is immutable.
class Wildcard {
 public:
  /// `pattern` must have at least one '*'. To ignore case, pass the pattern and the values in lower
  /// case.
  explicit Wildcard(std::string_view pattern);

  [[nodiscard]] bool Matches(std::string_view value) const;
  /// Returns an upper bound for the cost of Matches, in steps of a RequestContext. The cost is high
  /// because Matches may search the whole value for each part of the pattern.
  [[nodiscard]] uint64_t StepsFor(std::string_view value) const {
    constexpr size_t kComparedPerStep = 32;
    return parts_.size() + value.size() * parts_bytes_ / kComparedPerStep;
  }
  /// Returns the texts between the stars of the pattern, in order. If the pattern begins or ends
  /// with a star, there is no empty text for that end.
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }

 private:
  bool starts_with_star_ = false;
  bool ends_with_star_ = false;
  size_t parts_bytes_ = 0;  // total length of all parts
  /// The texts between the stars. If the list is empty, the pattern has only stars and matches
  /// every value.
  std::vector<std::string> parts_;
};

}  // namespace hg::query
