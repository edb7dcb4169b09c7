#include "storage/points/registry.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "storage/base/invariant.h"
#include "storage/base/no_wait.h"
#include "storage/codec/row_key.h"

namespace hg::points {

uint64_t Registry::Hash(ByteView tsuid) { return std::hash<ByteView>()(tsuid); }

ByteView Registry::Tsuid(uint32_t number) const {
  const Name* name = names_.Get(number);
  INVARIANT(name != nullptr);
  return {name->bytes, name->size};
}

std::optional<uint32_t> Registry::FindLocked(ByteView tsuid) const {
  if (slots_.empty()) return {};
  const size_t mask = slots_.size() - 1;
  for (size_t i = Hash(tsuid) & mask; slots_[i] != 0; i = (i + 1) & mask) {
    if (Tsuid(slots_[i] - 1) == tsuid) return slots_[i] - 1;
  }
  return {};
}

std::optional<uint32_t> Registry::Find(ByteView tsuid) const {
  std::shared_lock lock(mutex_);
  return FindLocked(tsuid);
}

void Registry::Insert(uint32_t number) {
  const size_t mask = slots_.size() - 1;
  size_t i = Hash(Tsuid(number)) & mask;
  while (slots_[i] != 0) i = (i + 1) & mask;
  slots_[i] = number + 1;
}

void Registry::Rehash(size_t slots) {
  slots_.assign(slots, 0);
  for (uint32_t number = 0; number < size(); ++number) Insert(number);
}

void Registry::Add(ByteView tsuid) {
  INVARIANT(tsuid.size() <= UINT16_MAX);
  std::unique_lock lock(mutex_);
  const uint32_t number = size();
  if (number + 1 > slots_.size() / 10 * 7) Rehash(std::max<size_t>(1024, slots_.size() * 2));
  auto* name = reinterpret_cast<Name*>(arena_.Take(sizeof(Name) + tsuid.size()));
  name->size = static_cast<uint16_t>(tsuid.size());
  std::memcpy(name->bytes, tsuid.data(), tsuid.size());
  names_.Set(number, name);
  index_.Add(number, tsuid);
  Insert(number);
  size_.store(number + 1, std::memory_order_release);
}

bool Registry::HasOnlyNamedTags(ByteView tsuid, const SeriesMatcher& matcher) const {
  bool only = true;
  codec::ForEachPair(layout_, tsuid, [&](ByteView tagk, ByteView) {
    only = only && std::any_of(matcher.clauses.begin(), matcher.clauses.end(),
                               [&](const TagClause& clause) { return clause.tagk == tagk; });
  });
  return only;
}

std::vector<uint32_t> Registry::Match(ByteView metric, const SeriesMatcher& matcher) const {
  std::vector<uint32_t> numbers;
  {
    std::shared_lock lock(mutex_);
    numbers = index_.Match(metric, matcher);
  }
  std::erase_if(numbers, [&](uint32_t number) {
    const ByteView tsuid = Tsuid(number);
    if (matcher.exact_tags && !HasOnlyNamedTags(tsuid, matcher)) return true;
    return !matcher.tsuids.empty() &&
           !std::binary_search(matcher.tsuids.begin(), matcher.tsuids.end(), tsuid);
  });
  std::sort(numbers.begin(), numbers.end(),
            [this](uint32_t a, uint32_t b) { return Tsuid(a) < Tsuid(b); });
  return numbers;
}

Status Registry::MayMatch(ByteView metric, const SeriesMatcher& matcher) const {
  if (NoWait::Current() == nullptr) return {};
  std::shared_lock lock(mutex_);
  return index_.MatchesAtMost(metric, matcher) > kFewSeries ? NoWait::MayWait() : Status();
}

std::vector<Bytes> Registry::Metrics() const {
  std::shared_lock lock(mutex_);
  return index_.Metrics();
}

size_t Registry::bytes() const {
  std::shared_lock lock(mutex_);
  return arena_.bytes() + names_.bytes() + slots_.size() * sizeof(uint32_t) + index_.bytes();
}

}  // namespace hg::points
