#include "storage/points/registry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "storage/base/invariant.h"
#include "storage/base/no_wait.h"
#include "storage/codec/row_key.h"
#include "storage/points/match_series.h"

namespace hg::points {
namespace {

// Looked for or added together, so that memory of one arrives while another is looked at.
constexpr size_t kTogether = 32;

// Who writes comes with series in the order in which they came first: the next one is mostly the
// one asked for, and near in memory.
thread_local uint32_t next_number = 0;

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

std::optional<uint32_t> Registry::FindLocked(ByteView tsuid, uint32_t hash) const {
  if (slots_.empty()) return {};
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].number != 0; i = (i + 1) & mask) {
    if (slots_[i].hash == hash && Tsuid(slots_[i].number - 1) == tsuid) return slots_[i].number - 1;
  }
  return {};
}

std::optional<uint32_t> Registry::FindNext(ByteView tsuid) const {
  if (next_number >= size() || Tsuid(next_number) != tsuid) return {};
  return next_number++;
}

std::optional<uint32_t> Registry::Find(ByteView tsuid) const {
  if (const auto next = FindNext(tsuid)) return next;
  std::shared_lock lock(mutex_);
  const std::optional<uint32_t> found = FindLocked(tsuid, Hash(tsuid));
  if (found) next_number = *found + 1;
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
        if (!slots_.empty()) __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)]);
      }
      for (size_t i = near; i < some.size(); ++i) {
        numbers[i] = FindLocked(some[i], hashes[i]).value_or(kUnknown);
        if (numbers[i] == kUnknown) {
          all = false;
        } else {
          next_number = numbers[i] + 1;
        }
      }
    }
    tsuids = tsuids.subspan(some.size());
    numbers += some.size();
  }
  return all;
}

void Registry::Insert(Slot slot, std::vector<Slot>* slots) {
  const size_t mask = slots->size() - 1;
  size_t i = slot.hash & mask;
  while ((*slots)[i].number != 0) i = (i + 1) & mask;
  (*slots)[i] = slot;
}

void Registry::Rehash(size_t slots) {
  std::vector<Slot> larger(slots);
  for (const Slot& slot : slots_) {
    if (slot.number != 0) Insert(slot, &larger);
  }
  slots_ = std::move(larger);
}

void Registry::Add(ByteView tsuid) {
  std::unique_lock lock(mutex_);
  MakeRoom(1);
  AddLocked(tsuid, Hash(tsuid));
}

void Registry::AddAll(std::span<const ByteView> tsuids) {
  std::array<uint32_t, kTogether> hashes;
  std::unique_lock lock(mutex_);
  for (; !tsuids.empty(); tsuids = tsuids.subspan(std::min(kTogether, tsuids.size()))) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    MakeRoom(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      hashes[i] = Hash(some[i]);
      __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)], 1);
    }
    for (size_t i = 0; i < some.size(); ++i) AddLocked(some[i], hashes[i]);
  }
}

void Registry::Reserve(size_t series) {
  std::unique_lock lock(mutex_);
  MakeRoom(series);
}

void Registry::MakeRoom(size_t series) {
  size_t slots = std::max<size_t>(1024, slots_.size());
  while (size() + series > slots / 10 * 7) slots *= 2;
  if (slots > slots_.size()) Rehash(slots);
}

void Registry::AddLocked(ByteView tsuid, uint32_t hash) {
  INVARIANT(tsuid.size() <= UINT16_MAX);
  const uint32_t number = size();
  auto* name = reinterpret_cast<Name*>(arena_.Take(sizeof(Name) + tsuid.size()));
  name->size = static_cast<uint16_t>(tsuid.size());
  std::memcpy(name->bytes, tsuid.data(), tsuid.size());
  names_.Set(number, name);
  index_.Add(number, {name->bytes, name->size});
  Insert({hash, number + 1}, &slots_);
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
  if (!matcher.tsuids.empty()) return MatchListed(metric, matcher);
  std::vector<uint32_t> numbers;
  {
    std::shared_lock lock(mutex_);
    numbers = index_.Match(metric, matcher);
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
           !MatchesTsuid(matcher, layout_, Tsuid(number));
  });
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;  // in the order of the list, which is sorted
}

Status Registry::MayMatch(ByteView metric, const SeriesMatcher& matcher) const {
  if (NoWait::Current() == nullptr) return {};
  std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return NoWait::MayWait();  // series are added: that may take long
  return index_.MatchesAtMost(metric, matcher) > kFewSeries ? NoWait::MayWait() : Status();
}

std::vector<Bytes> Registry::Metrics() const {
  std::shared_lock lock(mutex_);
  return index_.Metrics();
}

size_t Registry::bytes() const {
  std::shared_lock lock(mutex_);
  return arena_.bytes() + names_.bytes() + slots_.size() * sizeof(Slot) + index_.bytes();
}

}  // namespace hg::points
