#include "uid/name_filter.h"

#include <algorithm>

namespace hg::uid {

Result<std::unique_ptr<NameFilter>> NameFilter::Compile(const std::array<std::string, 3>& lists,
                                                        const std::string& delimiter) {
  ASSIGN_OR_RETURN(const auto parts, JavaPattern::Compile(delimiter));
  std::unique_ptr<NameFilter> filter(new NameFilter());
  for (UidKind kind : kUidKinds) {
    const std::string& list = lists[static_cast<size_t>(kind)];
    if (list.empty()) continue;
    ASSIGN_OR_RETURN(const auto texts, parts->Split(list, RequestContext::Unlimited()));
    for (const std::string& text : texts) {
      ASSIGN_OR_RETURN(auto pattern, JavaPattern::Compile(text));
      filter->of(kind).patterns.push_back(std::move(pattern));
    }
  }
  return filter;
}

bool NameFilter::Allows(UidKind kind, std::string_view name) {
  Kind& known = of(kind);
  const bool allowed = std::all_of(known.patterns.begin(), known.patterns.end(),
                                   [&](const auto& pattern) { return pattern->Search(name); });
  (allowed ? known.accepted : known.rejected).fetch_add(1, std::memory_order_relaxed);
  return allowed;
}

}  // namespace hg::uid
