#include "query/plan/filter_set.h"

#include <string>

namespace hg::query {

Result<std::shared_ptr<const TagFilter>> FilterSet::Get(const FilterSpec& spec) {
  const auto key_of = [](const FilterSpec& s) {
    return Key(s.type, s.tagk, s.filter, s.group_by, s.ignore_case);
  };
  if (const auto known = filters_.find(key_of(spec)); known != filters_.end()) {
    RETURN_IF_ERROR(context_.Step(1 + spec.filter.size() / 8));
    return known->second;
  }
  if (spec.type == "regexp" && ++regexps_ > kRegexpsMax) {
    return Status::InvalidArgument("The request has more than " + std::to_string(kRegexpsMax) +
                                   " different filters with regular expressions");
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const TagFilter> filter, TagFilter::Compile(spec, context_));
  constexpr int64_t kEntryBytes = 128;
  RETURN_IF_ERROR(context_.Charge(kEntryBytes));
  filters_.emplace(key_of(filter->spec()), filter);
  return filter;
}

}  // namespace hg::query
