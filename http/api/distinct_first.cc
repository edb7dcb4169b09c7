#include "http/api/distinct_first.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hg::http {
namespace {

// Memory of a hash table node with a few bytes of key, including its share of the buckets.
constexpr int64_t kSeenBytes = 72;

}  // namespace

DistinctFirst::DistinctFirst(const KeyLayout& layout, const SeriesMatcher& matcher, size_t limit,
                             MemoryTally* memory)
    : layout_(layout), matcher_(matcher), limit_(limit), memory_(memory) {}

Result<bool> DistinctFirst::IsNew(ByteView tsuid) {
  const auto key_width = static_cast<size_t>(layout_.tagk_width);
  const auto pair_width = static_cast<size_t>(layout_.pair_width());
  bool is_new = false;
  for (size_t at = static_cast<size_t>(layout_.metric_width); at < tsuid.size(); at += pair_width) {
    const ByteView key = tsuid.substr(at, key_width);
    const auto clause = std::lower_bound(
        matcher_.clauses.begin(), matcher_.clauses.end(), key,
        [](const TagClause& clause, ByteView k) { return ByteView(clause.tagk) < k; });
    const bool asked = clause != matcher_.clauses.end() && ByteView(clause->tagk) == key;
    if (!asked && !matcher_.clauses.empty()) continue;
    const size_t told = asked ? pair_width : key_width;
    if (!seen_.emplace(tsuid.substr(at, told)).second) continue;
    is_new = true;
    RETURN_IF_ERROR(memory_->Add(kSeenBytes));
  }
  return is_new;
}

Result<bool> DistinctFirst::Offer(ByteView tsuid) {
  ASSIGN_OR_RETURN(const bool is_new, IsNew(tsuid));
  if (is_new || others_.size() < limit_) {
    RETURN_IF_ERROR(memory_->Add(static_cast<int64_t>(2 * sizeof(Bytes) + tsuid.size())));
    (is_new ? new_ : others_).emplace_back(tsuid);
  }
  return new_.size() < limit_;
}

std::vector<Bytes> DistinctFirst::Chosen() && {
  others_.resize(std::min(others_.size(), limit_ - new_.size()));
  std::move(others_.begin(), others_.end(), std::back_inserter(new_));
  return std::move(new_);
}

}  // namespace hg::http
