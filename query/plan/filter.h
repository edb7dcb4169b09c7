#pragma once
// Compiles and evaluates tag filters (opentsdb-queries.md §4.1). query/series/series_filter.h uses
// the filters to find series.

#include <boost/unordered/unordered_flat_set.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/plan/wildcard.h"
#include "query/request/request.h"
#include "storage/base/bytes.h"
#include "storage/base/keyed_hash.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/java_pattern.h"

namespace hg::query {

/// kFilterSteps is the cost of compiling one filter or expression, in steps of a RequestContext.
/// One step is about the cost of reading one point. kTextBytesPerStep is the number of bytes of
/// text that cost one additional step.
inline constexpr uint64_t kFilterSteps = 32, kTextBytesPerStep = 8;

/// Returns whether an optional text of a request is missing or is the empty string.
inline bool Empty(const std::optional<std::string>& text) { return !text || text->empty(); }

enum class FilterKind : uint8_t {
  kLiteralOr,
  kLiteralOrAnyCase,
  kNotLiteralOr,
  kNotLiteralOrAnyCase,
  kWildcard,
  kRegexp,
};

/// A compiled tag filter. It is immutable and thread-safe.
class TagFilter {
 public:
  /// Compiles a tag filter. A caller with several filters should use FilterSet, which compiles
  /// equal filters only once. The memory of the filter stays charged to `context` until the request
  /// ends.
  ///
  /// InvalidArgument: the filter type is unknown, the key or the text is empty, or the pattern is
  /// invalid. Busy: the filter takes long to compile and this thread is an event loop
  /// (RequestContext::MayWait). Patterns and long lists of literals take long to compile. Also
  /// returns the errors of `context`.
  static Result<std::shared_ptr<const TagFilter>> Compile(
      const FilterSpec& spec, RequestContext& context = RequestContext::Unlimited());

  [[nodiscard]] const FilterSpec& spec() const { return spec_; }
  [[nodiscard]] FilterKind kind() const { return kind_; }
  /// Returns the tag values that a literal filter lists, without repeats, in the order of the
  /// filter text. For the AnyCase kinds, these values are in lower case.
  [[nodiscard]] const std::vector<std::string_view>& literals() const { return literals_; }
  /// Returns whether the filter is a wildcard that consists only of stars. This kind of filter
  /// selects every series that has the tag key.
  [[nodiscard]] bool matches_all() const { return matches_all_; }

  /// Returns whether the filter accepts a tag value (UTF-8). Charges the work to `context`.
  /// LimitExceeded: the match of a regular expression took too many steps (uid/java_pattern.h).
  /// Also returns the errors of `context`.
  Result<bool> Matches(std::string_view value, RequestContext& context) const;

  TagFilter(const TagFilter&) = delete;  // not copyable, because literals_ has views of the object
  TagFilter& operator=(const TagFilter&) = delete;

 private:
  explicit TagFilter(FilterSpec spec) : spec_(std::move(spec)) {}

  Status ReadLiterals(std::string_view text, RequestContext& context);

  FilterSpec spec_;
  FilterKind kind_ = FilterKind::kLiteralOr;
  std::string lowered_;  // the filter text in lower case, for the AnyCase kinds of literal filters
  // The literals are views of lowered_ or spec_.filter. `known_` is a flat set, because millions of
  // small blocks take long to free.
  std::vector<std::string_view> literals_;
  boost::unordered_flat_set<std::string_view, keyed_hash::Hash> known_;
  bool any_case_ = false;
  bool matches_all_ = false;
  std::optional<Wildcard> wildcard_;
  std::shared_ptr<const uid::JavaPattern> regexp_;
};

/// Parses the filter of a tag in the old form `key=text` (opentsdb-queries.md §4.3). The text is
/// "*", "type(text)", a text with a star, or a list of literals. `group_by` is copied into the
/// result.
Result<FilterSpec> LegacyFilter(std::string_view key, std::string_view text, bool group_by);

/// Returns bytes that are equal for two filters if and only if OpenTSDB treats the filters as
/// equal. OpenTSDB compares filters in order to remove repeated sub-queries, and to remove repeated
/// filters within the braces of a metric query. This comparison ignores the group_by flag, the
/// order of literals, and stars at either end of a wildcard. Returns the errors of `context`.
Result<Bytes> FilterIdentity(const FilterSpec& spec,
                             RequestContext& context = RequestContext::Unlimited());

/// Converts the ASCII and Latin-1 letters of a UTF-8 text to lower case. Tag values contain no
/// letters outside Latin-1.
std::string LowerUtf8(std::string_view text);

}  // namespace hg::query
