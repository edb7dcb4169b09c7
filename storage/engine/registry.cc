#include "storage/engine/registry.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "storage/base/checked_sort.h"
#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/points/match_series.h"

namespace hg::engine {
namespace {

// Number of series that are looked up or added together, so that their memory accesses overlap.
constexpr size_t kTogether = 32;
// Number of TSUIDs that are read between two reports to a RequestContext.
constexpr size_t kStepsTogether = 4096;
// The cost of reading a TSUID in a mapped file, in steps of a RequestContext. The page may have to
// be read from the disk.
constexpr uint64_t kMappedSteps = 16;

}  // namespace

std::shared_ptr<const TsuidTable> Registry::tsuids() const {
  std::shared_lock lock(mutex_);
  return lookups_->tsuids;
}

Bytes Registry::TsuidOf(uint32_t number) const {
  std::shared_lock lock(mutex_);
  const Snapshot now = SnapshotLocked();
  lock.unlock();
  return now.forgotten->Has(number) ? Bytes() : Bytes(now.tsuids->FindTsuid(number));
}

uint32_t Registry::FindLocked(ByteView tsuid, uint32_t hash) const {
  return lookups_->slots.Find(
      hash, [&](uint32_t number) { return lookups_->tsuids->Tsuid(number) == tsuid; });
}

// A mapped file is not read while the lock is held.
std::optional<uint32_t> Registry::FindNext(ByteView tsuid) const {
  const uint32_t next = next_.load(std::memory_order_relaxed);
  if (next < lookups_->tsuids->mapped().end || next >= size() ||
      lookups_->tsuids->FindTsuid(next) != tsuid || forgotten_->Has(next)) {
    return {};
  }
  next_.store(next + 1, std::memory_order_relaxed);
  return next;
}

bool Registry::FindMapped(const Snapshot& at, std::span<const ByteView> tsuids,
                          uint32_t* numbers) const {
  const auto& ranges = at.tsuids->mapped().ranges;
  std::array<uint32_t, kTogether> hashes;
  bool all = true;
  for (size_t begin = 0; begin < tsuids.size(); begin += kTogether) {
    const auto some = tsuids.subspan(begin, std::min(kTogether, tsuids.size() - begin));
    size_t unknown = 0;
    for (size_t i = 0; i < some.size(); ++i) {
      uint32_t& number = numbers[begin + i];
      if (number != kUnknown) continue;
      if (some[i].empty()) {
        all = false;
        continue;
      }
      const uint32_t next = next_.load(std::memory_order_relaxed);
      if (next < at.tsuids->mapped().end && at.tsuids->FindTsuid(next) == some[i] &&
          !at.forgotten->Has(next)) {
        number = next;
        next_.store(next + 1, std::memory_order_relaxed);
        continue;
      }
      hashes[i] = MappedSeries::Hash(some[i]);
      ++unknown;
    }
    // A series that was forgotten and registered again may be in an older file, too.
    for (auto range = ranges.rbegin(); range != ranges.rend() && unknown > 0; ++range) {
      const auto wanted = [&](size_t i) {
        return numbers[begin + i] == kUnknown && !some[i].empty();
      };
      for (size_t i = 0; i < some.size(); ++i) {
        if (wanted(i)) (*range)->Prefetch(hashes[i]);
      }
      for (size_t i = 0; i < some.size(); ++i) {
        if (!wanted(i)) continue;
        const uint32_t number = (*range)->Find(some[i], hashes[i]);
        if (number == kUnknown || at.forgotten->Has(number)) continue;
        numbers[begin + i] = number;
        next_.store(number + 1, std::memory_order_relaxed);
        --unknown;
      }
    }
    all = all && unknown == 0;
  }
  return all;
}

std::optional<uint32_t> Registry::Find(ByteView tsuid) const {
  uint32_t number;
  if (!FindAll({&tsuid, 1}, &number)) return {};
  INVARIANT(number < size());
  return number;
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
    hashes[i] = MappedSeries::Hash(some[i]);
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
  for (; !tsuids.empty(); tsuids = tsuids.subspan(std::min(kTogether, tsuids.size()))) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    uint32_t* const of_some = std::exchange(numbers, numbers + some.size());
    std::shared_lock lock(mutex_);
    if (FindSome(some, of_some)) continue;
    const Snapshot now = SnapshotLocked();
    lock.unlock();
    all = FindMapped(now, some, of_some) && all;
  }
  return all;
}

void Registry::Add(ByteView tsuid) { AddAll({&tsuid, 1}); }

void Registry::AddAll(std::span<const ByteView> tsuids) {
  AddTogether(tsuids, [](ByteView, uint32_t) { return kUnknown; });
}

// No other thread adds series at a start, but the threads that replay the log read.
void Registry::LoadAll(std::span<const ByteView> tsuids) {
  std::shared_lock lock(mutex_);
  const Snapshot now = SnapshotLocked();
  lock.unlock();
  std::vector<uint32_t> before(tsuids.size(), kUnknown);
  if (!now.tsuids->mapped().ranges.empty()) FindMapped(now, tsuids, before.data());
  AddTogether(tsuids, [&](ByteView tsuid, uint32_t hash) {
    const uint32_t number = FindLocked(tsuid, hash);
    if (number != kUnknown) {
      before.push_back(number);
      has_duplicates_ = true;
    }
    return number;
  });
  std::erase(before, kUnknown);
  if (before.empty()) return;
  std::unique_lock change(mutex_);
  ForgetLocked(before);
}

// `before` returns the number in memory that a TSUID already has, or kUnknown.
template <typename Before>
void Registry::AddTogether(std::span<const ByteView> tsuids, const Before& before) {
  std::array<uint32_t, kTogether> hashes;
  std::unique_lock lock(mutex_);
  for (; !tsuids.empty(); tsuids = tsuids.subspan(std::min(kTogether, tsuids.size()))) {
    const auto some = tsuids.first(std::min(kTogether, tsuids.size()));
    lookups_->slots.Reserve(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      hashes[i] = MappedSeries::Hash(some[i]);
      lookups_->slots.Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < some.size(); ++i) {
      if (some[i].empty()) {
        SkipLocked(1);
      } else {
        AddLocked(some[i], hashes[i], before(some[i], hashes[i]));
      }
    }
  }
}

void Registry::Reserve(size_t series) {
  std::unique_lock lock(mutex_);
  lookups_->slots.Reserve(series);
}

void Registry::AddLocked(ByteView tsuid, uint32_t hash, uint32_t before) {
  const uint32_t number = size();
  INVARIANT(number != kUnknown);
  lookups_->index.Add(number, lookups_->tsuids->Set(number, tsuid));
  if (before == kUnknown) {
    lookups_->slots.Add(hash, number);
  } else {
    lookups_->slots.Replace(hash, before, number);
  }
  size_.store(number + 1, std::memory_order_release);
}

void Registry::ForgetLocked(std::span<const uint32_t> numbers) {
  auto forgotten = std::make_shared<NumberSet>(*forgotten_);
  forgotten->Grow(size());
  for (const uint32_t number : numbers) forgotten->Add(number);
  forgotten_count_.store(forgotten->Count(), std::memory_order_release);
  forgotten_ = std::move(forgotten);
}

void Registry::Skip(uint32_t count) {
  std::unique_lock lock(mutex_);
  SkipLocked(count);
}

void Registry::SkipLocked(uint32_t count) {
  const uint32_t begin = size();
  INVARIANT(count <= kUnknown - begin);
  forgotten_->Grow(begin + count);
  for (uint32_t number = begin; number < begin + count; ++number) forgotten_->Add(number);
  forgotten_count_.fetch_add(count, std::memory_order_release);
  size_.store(begin + count, std::memory_order_release);
}

std::shared_ptr<const NumberSet> Registry::Forgotten() const {
  std::shared_lock lock(mutex_);
  return forgotten_;
}

bool Registry::MapsMore(uint32_t end) const {
  return end / MappedSeries::kBlockSeries * MappedSeries::kBlockSeries >=
         uint64_t{tsuids()->mapped().end} + kMappedTogether;
}

Result<MappedRanges> Registry::MapSeries(FileSystem& files, const std::string& folder, uint32_t end,
                                         const NumberSet& forgotten,
                                         const std::function<Status()>& check) const {
  const auto tsuids = this->tsuids();
  MappedRanges mapped;
  mapped.end = tsuids->mapped().end;
  for (const auto& range : tsuids->mapped().ranges) {
    const uint32_t gone = forgotten.CountIn(range->begin(), range->end());
    if (gone < range->end() - range->begin()) mapped.ranges.push_back(range);
  }
  if (!MapsMore(end)) return mapped;
  end = end / MappedSeries::kBlockSeries * MappedSeries::kBlockSeries;
  const auto tsuid_of = [&](uint32_t number) {
    return forgotten.Has(number) ? ByteView() : tsuids->Tsuid(number);
  };
  uint32_t begin = mapped.end;
  // A small last file is written again together with the new series, so that there are few files.
  if (!mapped.ranges.empty() && mapped.ranges.back()->end() == begin &&
      end - mapped.ranges.back()->begin() <= MappedSeries::kSeriesMax &&
      mapped.ranges.back()->name_bytes() < MappedSeries::kNameBytesMax / 2) {
    begin = mapped.ranges.back()->begin();
    mapped.ranges.pop_back();
  }
  while (begin < end) {
    uint32_t range_end = begin;
    size_t name_bytes = 0;
    do {
      const uint32_t block_end = range_end + MappedSeries::kBlockSeries;
      for (; range_end < block_end; ++range_end) name_bytes += tsuid_of(range_end).size();
    } while (range_end < end && range_end - begin < MappedSeries::kSeriesMax &&
             name_bytes < MappedSeries::kNameBytesMax);
    ASSIGN_OR_RETURN(auto range,
                     MappedSeries::Make(files, folder, layout_, begin, range_end, tsuid_of, check));
    if (range != nullptr) mapped.ranges.push_back(std::move(range));
    begin = range_end;
  }
  mapped.end = end;
  return mapped;
}

std::unique_ptr<Registry::Lookups> Registry::NewLookups(const NumberSet& forgotten,
                                                        MappedRanges mapped) const {
  auto lookups = std::make_unique<Lookups>(
      layout_, std::make_shared<TsuidTable>(tsuid_bytes_, std::move(mapped)));
  std::shared_lock lock(mutex_);
  const uint32_t end = size();
  const TsuidTable::Blocks blocks = lookups_->tsuids->blocks();
  const auto before = forgotten_;
  lock.unlock();
  lookups->tsuids->ShareWithout(blocks, forgotten, end);
  // The caller may remove series from `forgotten` before it calls Forget, so their metrics stay.
  std::set<Bytes> metrics;
  for (const auto& range : lookups->tsuids->mapped().ranges) range->AddMetrics(*before, &metrics);
  lookups->mapped_metrics.assign(metrics.begin(), metrics.end());
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
  for (uint32_t number = std::max(begin, tsuids.mapped().end); number < end; ++number) {
    if (forgotten.Has(number)) continue;
    ByteView tsuid = tsuids.FindTsuid(number);
    if (tsuid.empty()) tsuid = tsuids.Set(number, now->Tsuid(number));
    lookups->slots.Reserve(1);
    lookups->slots.Add(MappedSeries::Hash(tsuid), number);
    lookups->index.Add(number, tsuid);
  }
}

std::unique_ptr<Registry::Lookups> Registry::Forget(std::unique_ptr<Lookups> lookups,
                                                    NumberSet forgotten) {
  auto fresh = std::make_shared<NumberSet>(std::move(forgotten));
  const uint32_t count = fresh->Count();
  std::unique_lock lock(mutex_);
  INVARIANT(lookups->tsuids->mapped().end >= lookups_->tsuids->mapped().end);
  lookups_.swap(lookups);
  forgotten_.swap(fresh);
  mapped_end_.store(lookups_->tsuids->mapped().end, std::memory_order_release);
  const size_t files = lookups_->tsuids->mapped().ranges.size();
  find_steps_.store(1 + static_cast<uint32_t>(files), std::memory_order_relaxed);
  forgotten_count_.store(count, std::memory_order_release);
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

Result<FoundSeries> Registry::Match(ByteView metric, const SeriesMatcher& matcher,
                                    MemoryTally* memory) const {
  ASSIGN_OR_RETURN(FoundSeries found, Candidates(metric, matcher, memory));
  RETURN_IF_ERROR(KeepMatches(metric, matcher, memory, &found));
  return found;
}

Result<FoundSeries> Registry::Candidates(ByteView metric, const SeriesMatcher& matcher,
                                         MemoryTally* memory) const {
  if (!matcher.tsuids.empty()) return MatchListed(metric, matcher, memory);
  FoundSeries found;
  std::shared_lock lock(mutex_);
  found.numbers = lookups_->index.Match(metric, matcher);
  const Snapshot now = SnapshotLocked();
  lock.unlock();
  found.tsuids = now.tsuids;
  RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(found.numbers.capacity() * sizeof(uint32_t))));
  for (const auto& range : now.tsuids->mapped().ranges) {
    RETURN_IF_ERROR(range->AddCandidates(metric, matcher, *now.forgotten, memory, &found.numbers));
  }
  return found;
}

Status Registry::KeepMatches(ByteView metric, const SeriesMatcher& matcher, MemoryTally* memory,
                             FoundSeries* found) const {
  if (!matcher.tsuids.empty()) return {};
  const TsuidTable& tsuids = *found->tsuids;
  std::vector<uint32_t>& numbers = found->numbers;
  const uint32_t mapped_end = tsuids.mapped().end;
  if (matcher.exact_tags || (mapped_end > 0 && !matcher.clauses.empty())) {
    uint64_t steps = 0;
    size_t kept = 0;
    for (const uint32_t number : numbers) {
      // The index in memory has checked the clauses.
      const bool mapped = number < mapped_end;
      if (mapped || matcher.exact_tags) {
        steps += (mapped ? kMappedSteps : 2) + matcher.clauses.size();
        if (steps >= kStepsTogether) RETURN_IF_ERROR(memory->Step(std::exchange(steps, 0)));
        const ByteView tsuid = tsuids.Tsuid(number);
        if (mapped ? !tsuid.starts_with(metric) || !points::MatchesTsuid(matcher, layout_, tsuid)
                   : !HasOnlyNamedTags(tsuid, matcher)) {
          continue;
        }
      }
      numbers[kept++] = number;
    }
    numbers.resize(kept);
    RETURN_IF_ERROR(memory->Step(steps));
  }
  RETURN_IF_ERROR(CheckedSort(
      &numbers, [&](uint32_t a, uint32_t b) { return tsuids.Tsuid(a) < tsuids.Tsuid(b); }, memory));
  // If a tag key occurs twice in a series, two lists of a file may have the series.
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return {};
}

Result<FoundSeries> Registry::MatchListed(ByteView metric, const SeriesMatcher& matcher,
                                          MemoryTally* memory) const {
  const std::vector<ByteView> listed(matcher.tsuids.begin(), matcher.tsuids.end());
  FoundSeries found;
  std::vector<uint32_t>& numbers = found.numbers;
  RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(listed.size() * sizeof(uint32_t))));
  numbers.resize(listed.size());
  // Writers that register series need the lock, too, so it is released now and then. A series that
  // is moved to a file meanwhile is found there.
  Snapshot now;
  for (size_t i = 0; i < listed.size(); i += kStepsTogether) {
    RETURN_IF_ERROR(memory->Step(std::min(kStepsTogether, listed.size() - i)));
    const auto piece = std::span(listed).subspan(i, std::min(kStepsTogether, listed.size() - i));
    const std::shared_lock lock(mutex_);
    for (size_t at = 0; at < piece.size(); at += kTogether) {
      FindSome(piece.subspan(at, std::min(kTogether, piece.size() - at)), &numbers[i + at]);
    }
    now = SnapshotLocked();
  }
  found.tsuids = now.tsuids;
  const size_t files = now.tsuids->mapped().ranges.size();
  const size_t together = std::max(kTogether, kStepsTogether / std::max<size_t>(files, 1));
  for (size_t i = 0; i < listed.size() && files > 0; i += together) {
    const auto some = std::span(listed).subspan(i, std::min(together, listed.size() - i));
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i);
    const auto unknown = static_cast<uint64_t>(
        std::count(begin, begin + static_cast<std::ptrdiff_t>(some.size()), kUnknown));
    if (unknown == 0) continue;
    RETURN_IF_ERROR(memory->Step(unknown * files));
    FindMapped(now, some, &numbers[i]);
  }
  SeriesMatcher others;  // all conditions except the list
  others.clauses = matcher.clauses;
  others.exact_tags = matcher.exact_tags;
  size_t kept = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i % kStepsTogether == 0)
      RETURN_IF_ERROR(memory->Step(std::min(kStepsTogether, numbers.size() - i)));
    if (numbers[i] == kUnknown || now.forgotten->Has(numbers[i])) continue;
    const ByteView tsuid = found.tsuids->FindTsuid(numbers[i]);
    if (tsuid.empty() || !tsuid.starts_with(metric)) continue;
    if (points::MatchesTsuid(others, layout_, tsuid)) numbers[kept++] = numbers[i];
  }
  numbers.resize(kept);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return found;  // sorted, like the list of the matcher
}

Status Registry::MayMatch(ByteView metric, const SeriesMatcher& matcher,
                          RequestContext* context) const {
  if (context == nullptr || !context->on_loop()) return {};
  std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return context->MayWait();  // series are being added, which may take long
  if (!matcher.tsuids.empty()) {
    const size_t files = lookups_->tsuids->mapped().ranges.size();
    return matcher.tsuids.size() > kFewSeries || matcher.tsuids.size() * files > kFewMappedFinds
               ? context->MayWait()
               : Status();
  }
  if (lookups_->index.MatchesAtMost(metric, matcher) > kFewSeries) return context->MayWait();
  const auto tsuids = lookups_->tsuids;
  lock.unlock();
  uint64_t finds = metric.empty() ? 0 : 1;
  for (const TagClause& clause : matcher.clauses) finds += clause.values.size();
  if (finds * tsuids->mapped().ranges.size() > kFewMappedFinds) return context->MayWait();
  uint64_t mapped = 0;
  for (const auto& range : tsuids->mapped().ranges) {
    if ((mapped += range->CandidatesAtMost(metric, matcher)) > kFewMapped)
      return context->MayWait();
  }
  return {};
}

// Calls Check instead of Step, because Step may wait for other requests, and a write that creates a
// series must not wait for them.
Result<uint64_t> Registry::Count(ByteView metric, RequestContext* context) const {
  std::shared_lock lock(mutex_);
  uint64_t count = lookups_->index.MatchesAtMost(metric, {});
  const Snapshot now = SnapshotLocked();
  lock.unlock();
  for (const auto& range : now.tsuids->mapped().ranges) {
    if (context != nullptr) RETURN_IF_ERROR(context->Check());
    count += range->Count(metric, *now.forgotten);
  }
  return count;
}

std::vector<Bytes> Registry::Metrics() const {
  std::shared_lock lock(mutex_);
  const std::vector<Bytes> metrics = lookups_->index.Metrics();
  const std::vector<Bytes> mapped = lookups_->mapped_metrics;
  lock.unlock();
  if (mapped.empty()) return metrics;
  std::vector<Bytes> all;
  std::set_union(metrics.begin(), metrics.end(), mapped.begin(), mapped.end(),
                 std::back_inserter(all));
  return all;
}

size_t Registry::bytes() const {
  std::shared_lock lock(mutex_);
  return *tsuid_bytes_ + lookups_->bytes() + forgotten_->bytes();
}

size_t Registry::mapped_bytes() const {
  size_t bytes = 0;
  for (const auto& range : mapped().ranges) bytes += range->bytes();
  return bytes;
}

}  // namespace hg::engine
