#include "storage/engine/registry.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/base/keyed_hash.h"
#include "storage/codec/row_key.h"
#include "storage/points/match_series.h"

namespace hg::engine {
namespace {

// Number of series that are looked up or added together, so that their memory accesses overlap.
constexpr size_t kTogether = 32;

}  // namespace

uint32_t Registry::Hash(ByteView tsuid) {
  const uint64_t hash = keyed_hash::Hash()(tsuid);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

std::shared_ptr<const TsuidTable> Registry::tsuids() const {
  std::shared_lock lock(mutex_);
  return lookups_->tsuids;
}

Bytes Registry::TsuidOf(uint32_t number) const {
  std::shared_lock lock(mutex_);
  return forgotten_.Has(number) ? Bytes() : Bytes(lookups_->tsuids->FindTsuid(number));
}

uint32_t Registry::FindLocked(ByteView tsuid, uint32_t hash) const {
  return lookups_->slots.Find(
      hash, [&](uint32_t number) { return lookups_->tsuids->Tsuid(number) == tsuid; });
}

std::optional<uint32_t> Registry::FindNext(ByteView tsuid) const {
  const uint32_t next = next_.load(std::memory_order_relaxed);
  if (next >= size() || lookups_->tsuids->FindTsuid(next) != tsuid || forgotten_.Has(next)) {
    return {};
  }
  next_.store(next + 1, std::memory_order_relaxed);
  return next;
}

std::optional<uint32_t> Registry::Find(ByteView tsuid) const {
  std::shared_lock lock(mutex_);
  if (const auto next = FindNext(tsuid)) return next;
  const uint32_t found = FindLocked(tsuid, Hash(tsuid));
  if (found == kUnknown) return {};
  INVARIANT(found < size());
  next_.store(found + 1, std::memory_order_relaxed);
  return found;
}

// Finds at most kTogether series.
bool Registry::FindSome(std::span<const ByteView> some, uint32_t* numbers) const {
  std::array<uint32_t, kTogether> hashes;
  bool all = true;
  size_t near = 0;
  for (; near < some.size(); ++near) {
    const auto next = FindNext(some[near]);
    if (!next) break;
    numbers[near] = *next;
  }
  for (size_t i = near; i < some.size(); ++i) {
    hashes[i] = Hash(some[i]);
    lookups_->slots.Prefetch(hashes[i]);
  }
  for (size_t i = near; i < some.size(); ++i) {
    numbers[i] = FindLocked(some[i], hashes[i]);
    if (numbers[i] == kUnknown) {
      all = false;
    } else {
      next_.store(numbers[i] + 1, std::memory_order_relaxed);
    }
  }
  return all;
}

bool Registry::FindAll(std::span<const ByteView> tsuids, uint32_t* numbers) const {
  bool all = true;
  while (!tsuids.empty()) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    std::shared_lock lock(mutex_);
    all = FindSome(some, numbers) && all;
    tsuids = tsuids.subspan(some.size());
    numbers += some.size();
  }
  return all;
}

void Registry::Add(ByteView tsuid) {
  std::unique_lock lock(mutex_);
  lookups_->slots.Reserve(1);
  AddLocked(tsuid, Hash(tsuid));
}

void Registry::AddAll(std::span<const ByteView> tsuids) {
  std::array<uint32_t, kTogether> hashes;
  std::unique_lock lock(mutex_);
  for (; !tsuids.empty(); tsuids = tsuids.subspan(std::min(kTogether, tsuids.size()))) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    lookups_->slots.Reserve(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      hashes[i] = Hash(some[i]);
      lookups_->slots.Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < some.size(); ++i) {
      if (some[i].empty()) {
        SkipLocked(1);
      } else {
        AddLocked(some[i], hashes[i]);
      }
    }
  }
}

void Registry::Reserve(size_t series) {
  std::unique_lock lock(mutex_);
  lookups_->slots.Reserve(series);
}

void Registry::AddLocked(ByteView tsuid, uint32_t hash) {
  const uint32_t number = size();
  INVARIANT(number != kUnknown);
  lookups_->index.Add(number, lookups_->tsuids->Set(number, tsuid));
  const uint32_t before = FindLocked(tsuid, hash);
  if (before == kUnknown) {
    lookups_->slots.Add(hash, number);
  } else {
    lookups_->slots.Replace(hash, before, number);
    forgotten_.Grow(before + 1);
    forgotten_.Add(before);
    forgotten_count_.fetch_add(1, std::memory_order_release);
    has_duplicates_ = true;
  }
  size_.store(number + 1, std::memory_order_release);
}

void Registry::Skip(uint32_t count) {
  std::unique_lock lock(mutex_);
  SkipLocked(count);
}

void Registry::SkipLocked(uint32_t count) {
  const uint32_t begin = size();
  INVARIANT(count <= kUnknown - begin);
  forgotten_.Grow(begin + count);
  for (uint32_t number = begin; number < begin + count; ++number) forgotten_.Add(number);
  forgotten_count_.fetch_add(count, std::memory_order_release);
  size_.store(begin + count, std::memory_order_release);
}

NumberSet Registry::Forgotten() const {
  std::shared_lock lock(mutex_);
  return forgotten_;
}

std::unique_ptr<Registry::Lookups> Registry::NewLookups(const NumberSet& forgotten) const {
  auto lookups = std::make_unique<Lookups>(layout_, std::make_shared<TsuidTable>(tsuid_bytes_));
  std::shared_lock lock(mutex_);
  const uint32_t end = size();
  const TsuidTable::Blocks blocks = lookups_->tsuids->blocks();
  lock.unlock();
  lookups->tsuids->ShareWithout(blocks, forgotten, end);
  return lookups;
}

void Registry::AddTo(uint32_t begin, uint32_t end, const NumberSet& forgotten,
                     Lookups* lookups) const {
  INVARIANT(end <= size());
  std::shared_lock lock(mutex_);
  const std::shared_ptr<const TsuidTable> now = lookups_->tsuids;
  TsuidTable& tsuids = *lookups->tsuids;
  tsuids.ShareNew(now->blocks());
  lock.unlock();
  for (uint32_t number = begin; number < end; ++number) {
    if (forgotten.Has(number)) continue;
    ByteView tsuid = tsuids.FindTsuid(number);
    if (tsuid.empty()) tsuid = tsuids.Set(number, now->Tsuid(number));
    lookups->slots.Reserve(1);
    lookups->slots.Add(Hash(tsuid), number);
    lookups->index.Add(number, tsuid);
  }
}

std::unique_ptr<Registry::Lookups> Registry::Forget(std::unique_ptr<Lookups> lookups,
                                                    NumberSet forgotten) {
  std::unique_lock lock(mutex_);
  lookups_.swap(lookups);
  std::swap(forgotten_, forgotten);
  forgotten_count_.store(forgotten_.Count(), std::memory_order_release);
  has_duplicates_ = false;
  return lookups;
}

bool Registry::HasOnlyNamedTags(ByteView tsuid, const SeriesMatcher& matcher) const {
  bool only = true;
  codec::ForEachPair(layout_, tsuid, [&](ByteView tagk, ByteView) {
    only = only && std::any_of(matcher.clauses.begin(), matcher.clauses.end(),
                               [&](const TagClause& clause) { return clause.tagk == tagk; });
  });
  return only;
}

FoundSeries Registry::Match(ByteView metric, const SeriesMatcher& matcher) const {
  if (!matcher.tsuids.empty()) return MatchListed(metric, matcher);
  FoundSeries found;
  {
    std::shared_lock lock(mutex_);
    found = {lookups_->index.Match(metric, matcher), lookups_->tsuids};
  }
  const TsuidTable& tsuids = *found.tsuids;
  if (matcher.exact_tags) {
    std::erase_if(found.numbers, [&](uint32_t number) {
      return !HasOnlyNamedTags(tsuids.Tsuid(number), matcher);
    });
  }
  std::sort(found.numbers.begin(), found.numbers.end(),
            [&](uint32_t a, uint32_t b) { return tsuids.Tsuid(a) < tsuids.Tsuid(b); });
  return found;
}

FoundSeries Registry::MatchListed(ByteView metric, const SeriesMatcher& matcher) const {
  const std::vector<ByteView> listed(matcher.tsuids.begin(), matcher.tsuids.end());
  FoundSeries found;
  std::vector<uint32_t>& numbers = found.numbers;
  numbers.resize(listed.size());
  {
    std::shared_lock lock(mutex_);
    for (size_t i = 0; i < listed.size(); i += kTogether) {
      const auto some = std::span(listed).subspan(i);
      FindSome(some.first(std::min(kTogether, some.size())), &numbers[i]);
    }
    found.tsuids = lookups_->tsuids;
  }
  std::erase_if(numbers, [&](uint32_t number) {
    if (number == kUnknown) return true;
    const ByteView tsuid = found.tsuids->Tsuid(number);
    return !tsuid.starts_with(metric) || !points::MatchesTsuid(matcher, layout_, tsuid);
  });
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return found;  // sorted, like the list of the matcher
}

Status Registry::MayMatch(ByteView metric, const SeriesMatcher& matcher,
                          RequestContext* context) const {
  if (context == nullptr || !context->on_loop()) return {};
  std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return context->MayWait();  // series are being added, which may take long
  return lookups_->index.MatchesAtMost(metric, matcher) > kFewSeries ? context->MayWait()
                                                                     : Status();
}

std::vector<Bytes> Registry::Metrics() const {
  std::shared_lock lock(mutex_);
  return lookups_->index.Metrics();
}

size_t Registry::bytes() const {
  std::shared_lock lock(mutex_);
  return *tsuid_bytes_ + lookups_->bytes() + forgotten_.bytes();
}

}  // namespace hg::engine
