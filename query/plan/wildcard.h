#pragma once
// Wildcard matching exactly as OpenTSDB does it, including its peculiarities (opentsdb-queries.md
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
  /// `pattern` has at least one '*'. To ignore case, the caller passes lower-case texts.
  explicit Wildcard(std::string_view pattern);

  [[nodiscard]] bool Matches(std::string_view value) const;
  /// Returns an upper bound for the cost of Matches, in steps of a RequestContext. Matches may
  /// search all of the value for each part.
  [[nodiscard]] uint64_t StepsFor(std::string_view value) const {
    constexpr size_t kComparedPerStep = 32;
    return parts_.size() + value.size() * parts_bytes_ / kComparedPerStep;
  }
  /// Returns the texts between the stars. Stars at either end of the pattern add no empty text.
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }

 private:
  bool starts_with_star_ = false;
  bool ends_with_star_ = false;
  size_t parts_bytes_ = 0;          // total length of all parts
  std::vector<std::string> parts_;  // empty = stars only, which match everything
};

}  // namespace hg::query
