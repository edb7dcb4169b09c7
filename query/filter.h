#pragma once
// Tag filters, compiled from their texts (spec query.md §4.1). Which series they admit is decided
// in query/series_filter.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "query/request.h"
#include "query/wildcard.h"
#include "storage/base/status.h"
#include "uid/java_pattern.h"

namespace hg::query {

enum class FilterKind : uint8_t {
  kLiteralOr,
  kLiteralOrAnyCase,
  kNotLiteralOr,
  kNotLiteralOrAnyCase,
  kWildcard,
  kRegexp,
};

/// Immutable and thread-safe.
class TagFilter {
 public:
  /// Unknown type, empty key or text, bad pattern: InvalidArgument. What takes long to match (a
  /// pattern, more than a few literals) counts as waiting (storage/base/no_wait.h).
  static Result<std::shared_ptr<const TagFilter>> Compile(const FilterSpec& spec);

  [[nodiscard]] const FilterSpec& spec() const { return spec_; }
  [[nodiscard]] FilterKind kind() const { return kind_; }
  /// The alternatives of the literal kinds, unique, in order of the text; lower case for the
  /// AnyCase kinds.
  [[nodiscard]] const std::vector<std::string>& literals() const { return literals_; }
  /// True for a wildcard of stars only: having the key is enough.
  [[nodiscard]] bool matches_all() const { return matches_all_; }

  /// Whether a tag value (UTF-8) passes.
  [[nodiscard]] bool Matches(std::string_view value) const;

  TagFilter(const TagFilter&) = delete;  // known_ points into it
  TagFilter& operator=(const TagFilter&) = delete;

 private:
  explicit TagFilter(FilterSpec spec) : spec_(std::move(spec)) {}

  FilterSpec spec_;
  FilterKind kind_ = FilterKind::kLiteralOr;
  std::vector<std::string> literals_;
  std::unordered_set<std::string_view> known_;  // the same
  bool any_case_ = false;
  bool matches_all_ = false;
  std::optional<Wildcard> wildcard_;
  std::shared_ptr<const uid::JavaPattern> regexp_;
};

/// The filter of a legacy tag `key=text` (§4.3): "*", "type(text)", text with a star, or literals.
Result<FilterSpec> LegacyFilter(std::string_view key, std::string_view text, bool group_by);

/// Whether OpenTSDB takes two filters for one: where it drops repeated sub-queries, and where the
/// braces of the URI form say one twice. Grouping does not count, nor the order of literals, nor
/// the stars at either end of a wildcard (recorded; TagVFilter's subclasses' equals).
bool SameFilter(const FilterSpec& a, const FilterSpec& b);

/// Lower case of ASCII and Latin-1 letters in UTF-8 text: all that tag values consist of.
std::string LowerUtf8(std::string_view text);

}  // namespace hg::query
