#pragma once
// Matches wildcards exactly as OpenTSDB does, including its peculiarities (opentsdb-queries.md
// §4.2, quirk Q5).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query {

/// Immutable.
class Wildcard {
 public:
  /// `pattern` must have at least one '*'. To ignore case, pass texts in lower case.
  explicit Wildcard(std::string_view pattern);

  [[nodiscard]] bool Matches(std::string_view value) const;
  /// Returns an upper bound for the cost of Matches, in steps of a RequestContext. For each part,
  /// Matches may search the whole value.
  [[nodiscard]] uint64_t StepsFor(std::string_view value) const {
    constexpr size_t kComparedPerStep = 32;
    return parts_.size() + value.size() * parts_bytes_ / kComparedPerStep;
  }
  /// Returns the texts between the stars, without empty texts for stars at either end.
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }

 private:
  bool starts_with_star_ = false;
  bool ends_with_star_ = false;
  size_t parts_bytes_ = 0;          // total length of all parts
  std::vector<std::string> parts_;  // empty: the pattern has only stars and matches everything
};

}  // namespace hg::query
