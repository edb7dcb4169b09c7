#pragma once
// Tag filters, compiled from their texts (opentsdb-queries.md §4.1). query/series/series_filter
// finds the series that the filters admit.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "query/plan/wildcard.h"
#include "query/request/request.h"
#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/java_pattern.h"

namespace hg::query {

/// The cost of compiling a filter or an expression (in steps; a step is about a point), and bytes
/// of text per step.
inline constexpr uint64_t kFilterSteps = 32, kTextBytesPerStep = 8;

/// Returns whether an optional text of a request is absent or empty.
inline bool Empty(const std::optional<std::string>& text) { return !text || text->empty(); }

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
  /// Compiles a filter. InvalidArgument: unknown type, empty key or text, or a bad pattern.
  /// Patterns and long literal lists take long to compile, so compiling them fails with Busy if
  /// `context` may not wait. The filter stays charged to `context` until the request ends. Also
  /// fails with errors of `context`. Use FilterSet to compile each filter of a request only once.
  static Result<std::shared_ptr<const TagFilter>> Compile(
      const FilterSpec& spec, RequestContext& context = RequestContext::Unlimited());

  [[nodiscard]] const FilterSpec& spec() const { return spec_; }
  [[nodiscard]] FilterKind kind() const { return kind_; }
  /// Returns the alternatives of a literal filter, without repeats, in the order of the text. For
  /// the AnyCase kinds they are in lower case.
  [[nodiscard]] const std::vector<std::string>& literals() const { return literals_; }
  /// Returns true for a wildcard that consists only of stars. It admits every series that has the
  /// tag key.
  [[nodiscard]] bool matches_all() const { return matches_all_; }

  /// Returns whether the filter admits a tag value (UTF-8). Reports the work to `context`.
  /// LimitExceeded: the match of a regular expression took too many steps (uid/java_pattern.h).
  /// Also fails with errors of `context`.
  Result<bool> Matches(std::string_view value, RequestContext& context) const;

  TagFilter(const TagFilter&) = delete;  // known_ has views into literals_
  TagFilter& operator=(const TagFilter&) = delete;

 private:
  explicit TagFilter(FilterSpec spec) : spec_(std::move(spec)) {}

  FilterSpec spec_;
  FilterKind kind_ = FilterKind::kLiteralOr;
  std::vector<std::string> literals_;
  std::unordered_set<std::string_view> known_;  // views of literals_, for fast look-ups
  bool any_case_ = false;
  bool matches_all_ = false;
  std::optional<Wildcard> wildcard_;
  std::shared_ptr<const uid::JavaPattern> regexp_;
};

/// Parses the filter of a legacy tag `key=text` (opentsdb-queries.md §4.3). The text is "*",
/// "type(text)", text with a star, or literals.
Result<FilterSpec> LegacyFilter(std::string_view key, std::string_view text, bool group_by);

/// Returns bytes that are equal for two filters if and only if OpenTSDB treats the filters as
/// equal. OpenTSDB compares filters to remove repeated sub-queries, and repeated filters within the
/// braces of a metric query. The group_by flag, the order of literals, and stars at either end of a
/// wildcard have no influence (as in the equals methods of TagVFilter's subclasses, and as
/// recorded).
Bytes FilterIdentity(const FilterSpec& spec);

/// Converts ASCII and Latin-1 letters of UTF-8 text to lower case. Tag values contain no other
/// letters.
std::string LowerUtf8(std::string_view text);

}  // namespace hg::query
