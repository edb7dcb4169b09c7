#include "storage/engine/mapped_series.h"

#include <algorithm>
#include <cstring>

#include "storage/base/invariant.h"
#include "storage/base/keyed_hash.h"

namespace hg::engine {
namespace {

constexpr uint32_t kNone = NumberSlots::kNone;
constexpr size_t kSizeBytes = sizeof(uint16_t);
// Words of a list before its series: their number, and the position of the id.
constexpr size_t kListHead = 2;

// The cost of a look-up, in steps of a RequestContext.
constexpr uint64_t kFindSteps = 4;
constexpr size_t kFoundTogether = 256;

// A file is at most about seven times as large as its TSUIDs. So much more space must be free on
// the disk, because points are more important than these copies.
constexpr uint64_t kFileShare = 7, kFreeBytes = uint64_t{128} << 20;

// Returns the metric of a TSUID (position 0), or one of its tag pairs (position 1 for the first).
ByteView IdAt(const KeyLayout& layout, ByteView tsuid, uint32_t position) {
  const auto metric = static_cast<size_t>(layout.metric_width);
  const auto pair = static_cast<size_t>(layout.pair_width());
  return position == 0 ? tsuid.substr(0, metric)
                       : tsuid.substr(metric + (position - 1) * pair, pair);
}

template <typename T>
ByteView BytesOf(std::span<const T> all) {
  return {reinterpret_cast<const char*>(all.data()), all.size_bytes()};
}

}  // namespace

uint32_t MappedSeries::Hash(ByteView name) {
  const uint64_t hash = keyed_hash::Hash()(name);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

/// Writes the sections one after the other.
class MappedSeries::Maker {
 public:
  Maker(MappedSeries* made, const std::function<Status()>& check) : made_(*made), check_(check) {}

  Status Run(const std::function<ByteView(uint32_t number)>& tsuid_of) {
    RETURN_IF_ERROR(WriteNames(tsuid_of));
    if (made_.count_ == 0) return {};
    // The sections are read through the map only when they are complete, so the TSUIDs of the
    // following sections come from `tsuid_of`.
    const size_t places = size_;
    RETURN_IF_ERROR(Append(BytesOf(std::span<const uint32_t>(places_))));
    RETURN_IF_ERROR(WriteSeries(tsuid_of));
    RETURN_IF_ERROR(WriteLists(tsuid_of));
    ASSIGN_OR_RETURN(const ByteView all, made_.file_->Map());
    made_.bytes_ = all.size();
    made_.names_ = all.data();
    made_.places_ = reinterpret_cast<const uint32_t*>(all.data() + places);
    made_.series_ = SlotsAt(all, series_at_, series_count_);
    made_.lists_ = reinterpret_cast<const uint32_t*>(all.data() + lists_at_);
    made_.ids_ = SlotsAt(all, ids_at_, ids_count_);
    return {};
  }

 private:
  static constexpr size_t kPieceBytes = 1 << 20;
  static constexpr uint32_t kSeriesTogether = 4096;

  static std::span<const NumberSlots::Slot> SlotsAt(ByteView all, size_t at, size_t count) {
    return {reinterpret_cast<const NumberSlots::Slot*>(all.data() + at), count};
  }

  Status Append(ByteView bytes) {
    RETURN_IF_ERROR(check_());
    size_ += bytes.size();
    return made_.file_->Append(bytes);
  }
  // Pads the file, so that the next section is aligned.
  Status Align() {
    constexpr size_t kAlignment = alignof(NumberSlots::Slot);
    static_assert(kAlignment % alignof(uint32_t) == 0);
    const Bytes padding((kAlignment - size_ % kAlignment) % kAlignment, '\0');
    return Append(padding);
  }

  Status WriteNames(const std::function<ByteView(uint32_t number)>& tsuid_of) {
    Bytes piece(kSizeBytes, '\0');  // no name has the offset 0
    places_.resize(made_.end_ - made_.begin_);
    for (uint32_t i = 0; i < places_.size(); ++i) {
      const ByteView tsuid = tsuid_of(made_.begin_ + i);
      if (tsuid.empty()) continue;
      INVARIANT(tsuid.size() <= UINT16_MAX);
      const size_t place = size_ + piece.size();
      INVARIANT(place <= UINT32_MAX);
      places_[i] = static_cast<uint32_t>(place);
      const auto size = static_cast<uint16_t>(tsuid.size());
      piece.append(reinterpret_cast<const char*>(&size), kSizeBytes).append(tsuid);
      ++made_.count_;
      made_.name_bytes_ += tsuid.size();
      uses_ += PositionsOf(tsuid);
      if (piece.size() < kPieceBytes) continue;
      RETURN_IF_ERROR(Append(piece));
      piece.clear();
    }
    RETURN_IF_ERROR(Append(piece));
    return Align();
  }

  Status WriteSeries(const std::function<ByteView(uint32_t number)>& tsuid_of) {
    NumberSlots slots;
    slots.Reserve(made_.count_);
    for (uint32_t number = made_.begin_; number < made_.end_; ++number) {
      const ByteView tsuid = tsuid_of(number);
      if (!tsuid.empty()) slots.Add(Hash(tsuid), number);
    }
    return WriteSlots(slots, &series_at_, &series_count_);
  }

  Status WriteSlots(const NumberSlots& slots, size_t* at, size_t* count) {
    RETURN_IF_ERROR(Align());
    *at = size_;
    *count = slots.slots().size();
    return Append(BytesOf(slots.slots()));
  }

  // An id at a position of a series. Sorting these values brings equal ids together, and the series
  // of an id into ascending order.
  static constexpr int kPositionBits = 14;
  static_assert(kSeriesMax <= uint64_t{1} << (32 - kPositionBits));
  static constexpr uint64_t kPositionMask = (1 << kPositionBits) - 1;
  static uint64_t Use(uint32_t hash, uint32_t series, uint32_t position) {
    INVARIANT(position <= kPositionMask);
    return uint64_t{hash} << 32 | uint64_t{series} << kPositionBits | position;
  }
  [[nodiscard]] size_t PositionsOf(ByteView tsuid) const {
    const auto metric = static_cast<size_t>(made_.layout_.metric_width);
    return 1 + (tsuid.size() - metric) / static_cast<size_t>(made_.layout_.pair_width());
  }
  static uint32_t SeriesOf(uint64_t use) { return static_cast<uint32_t>(use) >> kPositionBits; }
  static uint32_t PositionOf(uint64_t use) { return static_cast<uint32_t>(use & kPositionMask); }

  Status WriteLists(const std::function<ByteView(uint32_t number)>& tsuid_of) {
    std::vector<uint64_t> uses;
    uses.reserve(uses_);
    for (uint32_t i = 0; i < places_.size(); ++i) {
      if (i % kSeriesTogether == 0) RETURN_IF_ERROR(check_());
      const ByteView tsuid = tsuid_of(made_.begin_ + i);
      if (tsuid.empty()) continue;
      for (uint32_t at = 0; at < PositionsOf(tsuid); ++at) {
        uses.push_back(Use(Hash(IdAt(made_.layout_, tsuid, at)), i, at));
      }
    }
    RETURN_IF_ERROR(check_());
    std::sort(uses.begin(), uses.end());
    RETURN_IF_ERROR(check_());
    const auto id_of = [&](uint64_t use) {
      return IdAt(made_.layout_, tsuid_of(made_.begin_ + SeriesOf(use)), PositionOf(use));
    };
    // The hashes are added to the table at the end. If the table grew meanwhile, all entries would
    // be in its first part, because they are added in the order of their hashes.
    std::vector<NumberSlots::Slot> found;
    std::vector<uint32_t> lists;
    lists.reserve(uses_);
    const auto add = [&](std::span<const uint64_t> of_id) {
      INVARIANT(lists.size() < kNone);
      if (PositionOf(of_id[0]) == 0) made_.metrics_.push_back(static_cast<uint32_t>(lists.size()));
      found.push_back({static_cast<uint32_t>(of_id[0] >> 32), static_cast<uint32_t>(lists.size())});
      lists.push_back(static_cast<uint32_t>(of_id.size()));
      lists.push_back(PositionOf(of_id[0]));
      for (const uint64_t use : of_id) lists.push_back(SeriesOf(use));
    };
    for (size_t begin = 0, end; begin < uses.size(); begin = end) {
      end = begin + 1;
      while (end < uses.size() && uses[end] >> 32 == uses[begin] >> 32) ++end;
      // Different ids with the same hash are rare. Each of them gets its own list.
      std::span<uint64_t> left(&uses[begin], end - begin);
      while (!left.empty()) {
        const ByteView id = id_of(left[0]);
        const bool is_pair = PositionOf(left[0]) > 0;
        const auto other = std::stable_partition(left.begin(), left.end(), [&](uint64_t use) {
          return is_pair == (PositionOf(use) > 0) && id_of(use) == id;
        });
        const auto same = static_cast<size_t>(other - left.begin());
        add(left.first(same));
        left = left.subspan(same);
      }
      if (found.size() % kSeriesTogether == 0) RETURN_IF_ERROR(check_());
    }
    uses = {};
    NumberSlots slots;
    slots.Reserve(found.size());
    for (const NumberSlots::Slot& slot : found) slots.Add(slot.hash, slot.number);
    lists_at_ = size_;
    RETURN_IF_ERROR(Append(BytesOf(std::span<const uint32_t>(lists))));
    return WriteSlots(slots, &ids_at_, &ids_count_);
  }

  MappedSeries& made_;
  const std::function<Status()>& check_;
  size_t size_ = 0;  // bytes of the file
  std::vector<uint32_t> places_;
  size_t uses_ = 0;  // number of ids of all series
  // Offsets of the sections, and numbers of their slots.
  size_t series_at_ = 0, series_count_ = 0, lists_at_ = 0, ids_at_ = 0, ids_count_ = 0;
};

Result<std::shared_ptr<const MappedSeries>> MappedSeries::Make(
    FileSystem& files, const std::string& folder, const KeyLayout& layout, uint32_t begin,
    uint32_t end, const std::function<ByteView(uint32_t number)>& tsuid_of,
    const std::function<Status()>& check) {
  INVARIANT(begin < end && end - begin <= kSeriesMax && begin % kBlockSeries == 0 &&
            end % kBlockSeries == 0);
  std::shared_ptr<MappedSeries> made(new MappedSeries(layout));
  made->begin_ = begin;
  made->end_ = end;
  uint64_t name_bytes = 0;
  for (uint32_t number = begin; number < end; ++number) {
    name_bytes += kSizeBytes + tsuid_of(number).size();
  }
  if (files.FreeBytes(folder) < kFileShare * name_bytes + kFreeBytes) {
    return Status::Unsupported(folder + ": the disk is too full for temporary files");
  }
  ASSIGN_OR_RETURN(made->file_, files.MakeScratch(folder));
  RETURN_IF_ERROR(Maker(made.get(), check).Run(tsuid_of));
  if (made->count_ == 0) made = nullptr;
  return std::shared_ptr<const MappedSeries>(std::move(made));
}

ByteView MappedSeries::Tsuid(uint32_t number) const {
  const uint32_t place = places_[number - begin_];
  if (place == 0) return {};
  uint16_t size;
  std::memcpy(&size, names_ + place, kSizeBytes);
  return {names_ + place + kSizeBytes, size};
}

uint32_t MappedSeries::Find(ByteView tsuid, uint32_t hash) const {
  return NumberSlots::FindIn(series_, hash,
                             [&](uint32_t number) { return Tsuid(number) == tsuid; });
}

std::span<const uint32_t> MappedSeries::ListOf(ByteView id, bool pair) const {
  const uint32_t at = NumberSlots::FindIn(ids_, Hash(id), [&](uint32_t list) {
    const uint32_t position = lists_[list + 1];
    return pair == (position > 0) &&
           IdAt(layout_, Tsuid(begin_ + lists_[list + kListHead]), position) == id;
  });
  if (at == kNone) return {};
  return {lists_ + at + kListHead, lists_[at]};
}

/// Either some lists, or all series.
struct MappedSeries::Candidates {
  std::vector<std::span<const uint32_t>> lists;
  bool all = false;
  uint64_t count = 0;
};

Result<MappedSeries::Candidates> MappedSeries::CandidatesFor(ByteView metric,
                                                             const SeriesMatcher& matcher,
                                                             MemoryTally* memory) const {
  Candidates best;
  best.all = true;
  best.count = end_ - begin_;
  if (!metric.empty()) {
    RETURN_IF_ERROR(memory->Step(kFindSteps));
    const auto of_metric = ListOf(metric, false);
    best = Candidates();
    best.lists = {of_metric};
    best.count = of_metric.size();
  }
  Bytes id;
  for (const TagClause& clause : matcher.clauses) {
    // If the look-ups of the values cost more than checking the series, they are not worth it.
    if (clause.kind != TagClause::Kind::kOneOf || clause.values.size() >= best.count) continue;
    Candidates of_clause;
    for (size_t i = 0; i < clause.values.size(); ++i) {
      if (i % kFoundTogether == 0) {
        const size_t some = std::min(kFoundTogether, clause.values.size() - i);
        RETURN_IF_ERROR(memory->Step(some * kFindSteps));
      }
      id.assign(clause.tagk).append(clause.values[i]);
      const auto list = ListOf(id, true);
      if (list.empty()) continue;
      of_clause.lists.push_back(list);
      of_clause.count += list.size();
    }
    if (of_clause.count < best.count) best = std::move(of_clause);
  }
  return best;
}

uint64_t MappedSeries::CandidatesAtMost(ByteView metric, const SeriesMatcher& matcher) const {
  MemoryTally without_limits(nullptr);
  return CandidatesFor(metric, matcher, &without_limits)->count;
}

Status MappedSeries::AddCandidates(ByteView metric, const SeriesMatcher& matcher,
                                   const NumberSet& forgotten, MemoryTally* memory,
                                   std::vector<uint32_t>* numbers) const {
  ASSIGN_OR_RETURN(const Candidates candidates, CandidatesFor(metric, matcher, memory));
  RETURN_IF_ERROR(memory->Step(candidates.count));
  const size_t capacity = numbers->capacity(), needed = numbers->size() + candidates.count;
  if (needed > capacity) {
    const size_t larger = std::max(needed, capacity + capacity / 2);
    RETURN_IF_ERROR(memory->Add(static_cast<int64_t>((larger - capacity) * sizeof(uint32_t))));
    numbers->reserve(larger);
  }
  const auto take = [&](uint32_t number) {
    if (!forgotten.Has(number)) numbers->push_back(number);
  };
  if (candidates.all) {
    for (uint32_t i = 0; i < end_ - begin_; ++i) {
      if (places_[i] != 0) take(begin_ + i);
    }
  }
  for (const auto& list : candidates.lists) {
    for (const uint32_t series : list) take(begin_ + series);
  }
  return {};
}

uint64_t MappedSeries::Count(ByteView metric, const NumberSet& forgotten) const {
  const auto series = ListOf(metric, false);
  return static_cast<uint64_t>(std::count_if(
      series.begin(), series.end(), [&](uint32_t i) { return !forgotten.Has(begin_ + i); }));
}

void MappedSeries::AddMetrics(const NumberSet& forgotten, std::set<Bytes>* metrics) const {
  for (const uint32_t at : metrics_) {
    const std::span<const uint32_t> series(lists_ + at + kListHead, lists_[at]);
    const auto live = std::find_if(series.begin(), series.end(),
                                   [&](uint32_t i) { return !forgotten.Has(begin_ + i); });
    if (live != series.end()) metrics->emplace(IdAt(layout_, Tsuid(begin_ + *live), 0));
  }
}

}  // namespace hg::engine
