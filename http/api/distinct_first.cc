#include "http/api/distinct_first.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hg::http {

DistinctFirst::DistinctFirst(const KeyLayout& layout, const SeriesMatcher& matcher, size_t limit)
    : layout_(layout), matcher_(matcher), limit_(limit) {}

bool DistinctFirst::IsNew(ByteView tsuid) {
  const auto key_width = static_cast<size_t>(layout_.tagk_width);
  const auto pair_width = static_cast<size_t>(layout_.pair_width());
  bool is_new = false;
  for (size_t at = static_cast<size_t>(layout_.metric_width); at < tsuid.size(); at += pair_width) {
    const ByteView key = tsuid.substr(at, key_width);
    const bool asked =
        std::any_of(matcher_.clauses.begin(), matcher_.clauses.end(),
                    [&](const TagClause& clause) { return ByteView(clause.tagk) == key; });
    if (!asked && !matcher_.clauses.empty()) continue;
    const size_t told = asked ? pair_width : key_width;
    if (seen_.emplace(tsuid.substr(at, told)).second) is_new = true;
  }
  return is_new;
}

bool DistinctFirst::Offer(ByteView tsuid) {
  if (IsNew(tsuid)) {
    new_.emplace_back(tsuid);
  } else if (others_.size() < limit_) {
    others_.emplace_back(tsuid);
  }
  return new_.size() < limit_;
}

std::vector<Bytes> DistinctFirst::Chosen() && {
  others_.resize(std::min(others_.size(), limit_ - new_.size()));
  std::move(others_.begin(), others_.end(), std::back_inserter(new_));
  return std::move(new_);
}

}  // namespace hg::http
