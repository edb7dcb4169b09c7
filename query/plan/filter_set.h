#pragma once
// The compiled tag filters of one request. A FilterSet compiles each distinct filter only once and
// limits the number of regular expressions.

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>

#include "query/plan/filter.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query {

/// Stores the compiled filters of one request. Not thread-safe.
class FilterSet {
 public:
  /// The maximum number of distinct regular expressions that one request may have.
  static constexpr size_t kRegexpsMax = 1000;

  /// The memory of the filters is charged to `context`, which must outlive the set. This memory
  /// stays charged until the request ends, because queries use the filters after the set is
  /// destroyed.
  explicit FilterSet(RequestContext& context) : context_(context) {}

  /// Returns the compiled filter for `spec`. InvalidArgument: the request has more than kRegexpsMax
  /// distinct regular expressions. Also returns the errors of TagFilter::Compile.
  Result<std::shared_ptr<const TagFilter>> Get(const FilterSpec& spec);

  /// Returns the context of the request.
  [[nodiscard]] RequestContext& context() const { return context_; }

 private:
  // The fields of a FilterSpec that identify a filter. The texts are views of the FilterSpec
  // objects in the compiled filters.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, bool, bool>;

  RequestContext& context_;
  size_t regexps_ = 0;
  std::map<Key, std::shared_ptr<const TagFilter>> filters_;
};

}  // namespace hg::query
