#include "storage/engine/registry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/points/match_series.h"

namespace hg::engine {
namespace {

// Number of series that are looked up or added together, so that their memory accesses overlap.
constexpr size_t kTogether = 32;

}  // namespace

uint32_t Registry::Hash(ByteView tsuid) {
  const uint64_t hash = std::hash<ByteView>()(tsuid);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

ByteView Registry::Tsuid(uint32_t number) const {
  const Name* name = names_.Get(number);
  INVARIANT(name != nullptr);
  return {name->bytes, name->size};
}

uint32_t Registry::FindLocked(ByteView tsuid, uint32_t hash) const {
  return slots_.Find(hash, [&](uint32_t number) { return Tsuid(number) == tsuid; });
}

std::optional<uint32_t> Registry::FindNext(ByteView tsuid) const {
  const uint32_t next = next_.load(std::memory_order_relaxed);
  if (next >= size() || Tsuid(next) != tsuid) return {};
  next_.store(next + 1, std::memory_order_relaxed);
  return next;
}

std::optional<uint32_t> Registry::Find(ByteView tsuid) const {
  if (const auto next = FindNext(tsuid)) return next;
  std::shared_lock lock(mutex_);
  const uint32_t found = FindLocked(tsuid, Hash(tsuid));
  if (found == kUnknown) return {};
  INVARIANT(found < size());
  next_.store(found + 1, std::memory_order_relaxed);
  return found;
}

bool Registry::FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const {
  bool all = true;
  std::array<uint32_t, kTogether> hashes;
  while (!tsuids.empty()) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    size_t near = 0;
    for (; near < some.size(); ++near) {
      const auto next = FindNext(some[near]);
      if (!next) break;
      numbers[near] = *next;
    }
    if (near < some.size()) {
      std::shared_lock lock(mutex_);
      for (size_t i = near; i < some.size(); ++i) {
        hashes[i] = Hash(some[i]);
        slots_.Prefetch(hashes[i]);
      }
      for (size_t i = near; i < some.size(); ++i) {
        numbers[i] = FindLocked(some[i], hashes[i]);
        if (numbers[i] == kUnknown) {
          all = false;
        } else {
          next_.store(numbers[i] + 1, std::memory_order_relaxed);
        }
      }
    }
    tsuids = tsuids.subspan(some.size());
    numbers += some.size();
  }
  return all;
}

void Registry::Add(ByteView tsuid) {
  std::unique_lock lock(mutex_);
  slots_.Reserve(1);
  AddLocked(tsuid, Hash(tsuid));
}

void Registry::AddAll(std::span<const ByteView> tsuids) {
  std::array<uint32_t, kTogether> hashes;
  std::unique_lock lock(mutex_);
  for (; !tsuids.empty(); tsuids = tsuids.subspan(std::min(kTogether, tsuids.size()))) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    slots_.Reserve(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      hashes[i] = Hash(some[i]);
      slots_.Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < some.size(); ++i) AddLocked(some[i], hashes[i]);
  }
}

void Registry::Reserve(size_t series) {
  std::unique_lock lock(mutex_);
  slots_.Reserve(series);
}

void Registry::AddLocked(ByteView tsuid, uint32_t hash) {
  INVARIANT(tsuid.size() <= UINT16_MAX);
  const uint32_t number = size();
  INVARIANT(number != kUnknown && names_.Get(number) == nullptr);
  auto* name = reinterpret_cast<Name*>(arena_.Take(sizeof(Name) + tsuid.size()));
  name->size = static_cast<uint16_t>(tsuid.size());
  std::memcpy(name->bytes, tsuid.data(), tsuid.size());
  names_.Set(number, name);
  index_->Add(number, {name->bytes, name->size});
  slots_.Add(hash, number);
  size_.store(number + 1, std::memory_order_release);
}

NumberSet Registry::Hidden() const {
  std::shared_lock lock(mutex_);
  return hidden_;
}

void Registry::AddToIndex(uint32_t begin, uint32_t end, const NumberSet& hidden,
                          TagIndex* index) const {
  INVARIANT(end <= size());
  for (uint32_t number = begin; number < end; ++number) {
    if (!hidden.Has(number)) index->Add(number, Tsuid(number));
  }
}

std::unique_ptr<TagIndex> Registry::ReplaceIndex(std::unique_ptr<TagIndex> index,
                                                 NumberSet hidden) {
  std::unique_lock lock(mutex_);
  index_.swap(index);
  std::swap(hidden_, hidden);
  hidden_count_.store(hidden_.Count(), std::memory_order_release);
  return index;
}

void Registry::Show(uint32_t number) {
  std::unique_lock lock(mutex_);
  INVARIANT(hidden_.Has(number));
  index_->Add(number, Tsuid(number));
  hidden_.Remove(number);
  hidden_count_.fetch_sub(1, std::memory_order_release);
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
  if (!matcher.tsuids.empty()) return MatchListed(metric, matcher);
  std::vector<uint32_t> numbers;
  {
    std::shared_lock lock(mutex_);
    numbers = index_->Match(metric, matcher);
  }
  if (matcher.exact_tags) {
    std::erase_if(numbers,
                  [&](uint32_t number) { return !HasOnlyNamedTags(Tsuid(number), matcher); });
  }
  std::sort(numbers.begin(), numbers.end(),
            [this](uint32_t a, uint32_t b) { return Tsuid(a) < Tsuid(b); });
  return numbers;
}

std::vector<uint32_t> Registry::MatchListed(ByteView metric, const SeriesMatcher& matcher) const {
  const std::vector<ByteView> tsuids(matcher.tsuids.begin(), matcher.tsuids.end());
  std::vector<uint32_t> numbers(tsuids.size());
  FindAll(tsuids, numbers.data());
  std::erase_if(numbers, [&](uint32_t number) {
    return number == kUnknown || !Tsuid(number).starts_with(metric) ||
           !points::MatchesTsuid(matcher, layout_, Tsuid(number));
  });
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;  // sorted, like the list of the matcher
}

Status Registry::MayMatch(ByteView metric, const SeriesMatcher& matcher,
                          RequestContext* context) const {
  if (context == nullptr || !context->on_loop()) return {};
  std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return context->MayWait();  // series are being added, which may take long
  return index_->MatchesAtMost(metric, matcher) > kFewSeries ? context->MayWait() : Status();
}

std::vector<Bytes> Registry::Metrics() const {
  std::shared_lock lock(mutex_);
  return index_->Metrics();
}

size_t Registry::bytes() const {
  std::shared_lock lock(mutex_);
  return arena_.bytes() + names_.bytes() + slots_.bytes() + index_->bytes() + hidden_.bytes();
}

}  // namespace hg::engine
