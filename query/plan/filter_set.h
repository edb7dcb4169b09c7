#pragma once
// The tag filters of one request. FilterSet compiles each different filter once and limits their
// number.

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>

#include "query/plan/filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query {

/// Not thread-safe.
class FilterSet {
 public:
  /// The maximum number of different regular expressions that one request may have.
  static constexpr size_t kRegexpsMax = 1000;

  /// The filters are charged to `context`, which must outlive the set. The filters stay charged
  /// until the request ends, because queries use them longer than the set exists.
  explicit FilterSet(RequestContext& context) : context_(context) {}

  /// Returns the compiled filter. Fails like TagFilter::Compile. InvalidArgument: the set has more
  /// than kRegexpsMax regular expressions.
  Result<std::shared_ptr<const TagFilter>> Get(const FilterSpec& spec);

 private:
  // The fields of a filter, as views into the FilterSpec that the set stores.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, bool, bool>;

  RequestContext& context_;
  size_t regexps_ = 0;
  std::map<Key, std::shared_ptr<const TagFilter>> filters_;
};

}  // namespace hg::query
