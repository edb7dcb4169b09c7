#include "storage/engine/tag_index.h"

#include <algorithm>
#include <roaring/roaring.hh>

#include "storage/base/invariant.h"
#include "storage/base/keyed_hash.h"
#include "storage/points/match_series.h"

namespace hg::engine {
namespace {

// Approximate memory of a metric's map node, of a set's second number, and of each further number.
constexpr size_t kMetricNodeBytes = 112;
constexpr size_t kManyBytes = 80;
constexpr size_t kPostingBytes = 3;

uint32_t HashOf(ByteView name) { return static_cast<uint32_t>(keyed_hash::Hash()(name)); }

}  // namespace

Postings::Postings() = default;
Postings::~Postings() = default;
Postings::Postings(Postings&&) noexcept = default;
Postings& Postings::operator=(Postings&&) noexcept = default;

size_t Postings::Add(uint32_t number) {
  if (many_ == nullptr && one_ == kNone) {
    one_ = number;
    return 0;
  }
  if (many_ == nullptr) {
    auto many = std::make_unique<Many>();
    many->list = {std::min(one_, number), std::max(one_, number)};
    many_ = std::move(many);
    return kManyBytes;
  }
  std::vector<uint32_t>& list = many_->list;
  if (many_->bitmap != nullptr) {
    many_->bitmap->add(number);
  } else if (list.size() < kListMax) {
    if (list.size() == list.capacity()) list.reserve(list.size() * 3 / 2 + 1);
    list.insert(std::upper_bound(list.begin(), list.end(), number), number);
  } else {
    many_->bitmap = std::make_unique<Roaring>(list.size(), list.data());
    many_->bitmap->add(number);
    list = {};
  }
  return kPostingBytes;
}

void Postings::AddTo(Roaring* set) const {
  if (many_ == nullptr) {
    if (one_ != kNone) set->add(one_);
  } else if (many_->bitmap != nullptr) {
    *set |= *many_->bitmap;
  } else {
    set->addMany(many_->list.size(), many_->list.data());
  }
}

template <typename Visit>
void Postings::ForEach(Visit&& visit) const {
  if (many_ == nullptr) {
    if (one_ != kNone) visit(one_);
  } else if (many_->bitmap != nullptr) {
    for (const uint32_t number : *many_->bitmap) visit(number);
  } else {
    for (const uint32_t number : many_->list) visit(number);
  }
}

bool Postings::Has(uint32_t number) const {
  if (many_ == nullptr) return one_ == number;
  if (many_->bitmap != nullptr) return many_->bitmap->contains(number);
  return std::binary_search(many_->list.begin(), many_->list.end(), number);
}

uint64_t Postings::size() const {
  if (many_ == nullptr) return one_ == kNone ? 0 : 1;
  return many_->bitmap != nullptr ? many_->bitmap->cardinality() : many_->list.size();
}

uint32_t NamedPostings::NumberOf(ByteView name, uint32_t hash) const {
  return slots_.Find(hash, [&](uint32_t i) { return ByteView(all_[i].name, width_) == name; });
}

const Postings* NamedPostings::Find(ByteView name) const {
  const uint32_t number = NumberOf(name, HashOf(name));
  return number == NumberSlots::kNone ? nullptr : &all_[number].postings;
}

Postings* NamedPostings::FindOrMake(ByteView name) {
  INVARIANT(name.size() == width_);
  const uint32_t hash = HashOf(name);
  if (const uint32_t number = NumberOf(name, hash); number != NumberSlots::kNone) {
    return &all_[number].postings;
  }
  slots_.Reserve(1);
  all_.push_back({name.data(), Postings()});
  slots_.Add(hash, static_cast<uint32_t>(all_.size() - 1));
  return &all_.back().postings;
}

void TagIndex::Add(uint32_t number, ByteView tsuid) {
  const auto width = static_cast<size_t>(layout_.metric_width);
  const ByteView metric = tsuid.substr(0, width);
  auto found = metrics_.find(metric);
  if (found == metrics_.end()) {
    found = metrics_.emplace(Bytes(metric), Postings()).first;
    bytes_ += kMetricNodeBytes;
  }
  bytes_ += found->second.Add(number);
  const ByteView pairs = tsuid.substr(width);
  if (last_set_ == kNone || sets_[last_set_].pairs != pairs) last_set_ = SetOf(pairs);
  TagSet& set = sets_[last_set_];
  const size_t block = number >> kBlockBits;
  if (block >= series_.size()) series_.resize(block + 1);
  if (series_[block] == nullptr) {
    series_[block] = std::make_unique<SeriesBlock>();
    series_bytes_ += sizeof(SeriesBlock);
  }
  Series& series = (*series_[block])[number & (kBlockSeries - 1)];
  INVARIANT(series.set == kNone);
  series = {last_set_, set.last};
  ++count_;
  set.last = number;
  ++set.series;
}

// Returns the tag set of these pairs, and creates it if needed.
uint32_t TagIndex::SetOf(ByteView pairs) {
  const uint32_t hash = HashOf(pairs);
  const uint32_t known =
      set_slots_.Find(hash, [&](uint32_t set) { return sets_[set].pairs == pairs; });
  if (known != kNone) return known;
  const auto set = static_cast<uint32_t>(sets_.size());
  set_slots_.Reserve(1);
  sets_.push_back({.pairs = pairs});
  set_slots_.Add(hash, set);
  AddSet(set, pairs);
  return set;
}

void TagIndex::AddSet(uint32_t set, ByteView pairs) {
  const auto key_width = static_cast<size_t>(layout_.tagk_width);
  const auto width = static_cast<size_t>(layout_.pair_width());
  INVARIANT(pairs.size() % width == 0);
  const size_t count = pairs.size() / width;
  if (recent_keys_.size() < count) recent_keys_.resize(count);
  if (recent_pairs_.size() < count) recent_pairs_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    AddTo(&keys_, &recent_keys_[i], pairs.substr(i * width, key_width), set);
    AddTo(&pairs_, &recent_pairs_[i], pairs.substr(i * width, width), set);
  }
}

void TagIndex::AddTo(NamedPostings* postings, Recent* recent, ByteView name, uint32_t set) {
  if (recent->postings == nullptr || recent->name != name) {
    *recent = {name, postings->FindOrMake(name)};
  }
  bytes_ += recent->postings->Add(set);
}

void TagIndex::AddOneOf(const TagClause& clause, Roaring* set) const {
  for (const Postings* list : ListsOf(clause)) list->AddTo(set);
}

std::vector<const Postings*> TagIndex::ListsOf(const TagClause& clause) const {
  std::vector<const Postings*> lists;
  lists.reserve(clause.values.size());
  Bytes name;
  for (const Bytes& value : clause.values) {
    name.assign(clause.tagk).append(value);
    if (const Postings* list = pairs_.Find(name)) lists.push_back(list);
  }
  return lists;
}

// If only few tag sets match one of the clauses (for example the tag sets of some hosts), checks
// these sets one by one, which is cheaper than using bitmaps. Otherwise returns nullopt.
std::optional<std::vector<uint32_t>> TagIndex::MatchFewSets(
    const std::vector<TagClause>& clauses) const {
  constexpr uint64_t kFewSets = 256, kFewValues = 256;
  for (const TagClause& clause : clauses) {
    if (clause.kind != TagClause::Kind::kOneOf || clause.values.size() > kFewValues) continue;
    const std::vector<const Postings*> lists = ListsOf(clause);
    uint64_t count = 0;
    for (const Postings* list : lists) count += list->size();
    if (count > kFewSets) continue;
    std::vector<uint32_t> sets;
    sets.reserve(count);
    for (const Postings* list : lists) list->ForEach([&](uint32_t set) { sets.push_back(set); });
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    if (clauses.size() > 1) {
      SeriesMatcher named;
      named.clauses = clauses;
      std::erase_if(sets, [&](uint32_t set) {
        return !points::MatchesSeries(named, layout_, {}, sets_[set].pairs);
      });
    }
    return sets;
  }
  return std::nullopt;
}

// Returns the tag sets that match all clauses. Begins with a clause that lists values, because it
// usually matches few sets.
Roaring TagIndex::MatchSets(const std::vector<TagClause>& clauses) const {
  Roaring result;
  const auto first = std::find_if(clauses.begin(), clauses.end(), [](const TagClause& clause) {
    return clause.kind == TagClause::Kind::kOneOf;
  });
  if (first != clauses.end()) {
    AddOneOf(*first, &result);
  } else {
    result.addRange(0, sets_.size());
  }
  for (auto clause = clauses.begin(); clause != clauses.end(); ++clause) {
    if (result.isEmpty()) break;
    if (clause == first) continue;
    Roaring with;
    if (clause->kind == TagClause::Kind::kOneOf) {
      AddOneOf(*clause, &with);
    } else if (const Postings* key = keys_.Find(clause->tagk)) {
      key->AddTo(&with);
    }
    if (clause->kind == TagClause::Kind::kAbsent) {
      result -= with;
    } else {
      result &= with;
    }
  }
  return result;
}

template <typename Visit>
void TagIndex::ForEachSeries(Visit&& visit) const {
  for (size_t block = 0; block < series_.size(); ++block) {
    if (series_[block] == nullptr) continue;
    for (uint32_t i = 0; i < kBlockSeries; ++i) {
      if ((*series_[block])[i].set != kNone) visit(static_cast<uint32_t>(block) * kBlockSeries + i);
    }
  }
}

// Iterates over the smaller side: the series of the sets, or those of the metric.
template <typename Sets, typename Has>
std::vector<uint32_t> TagIndex::SeriesOf(const Sets& sets, const Postings* metric,
                                         Has&& has) const {
  std::vector<uint32_t> numbers;
  const uint64_t most = metric != nullptr ? metric->size() : count_;
  uint64_t in_sets = 0;
  for (auto set = sets.begin(); set != sets.end() && in_sets <= most; ++set) {
    in_sets += sets_[*set].series;
  }
  if (in_sets > most) {
    const auto take = [&](uint32_t number) {
      const uint32_t set = SeriesAt(number).set;
      if (has(set)) numbers.push_back(number);
    };
    if (metric != nullptr) {
      metric->ForEach(take);
    } else {
      ForEachSeries(take);
    }
    return numbers;
  }
  for (const uint32_t set : sets) {
    for (uint32_t n = sets_[set].last; n != kNone; n = SeriesAt(n).before) {
      if (metric == nullptr || metric->Has(n)) numbers.push_back(n);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<uint32_t> TagIndex::Match(ByteView metric, const SeriesMatcher& matcher) const {
  const auto of_metric = metrics_.find(metric);
  if (!metric.empty() && of_metric == metrics_.end()) return {};
  const Postings* const postings = metric.empty() ? nullptr : &of_metric->second;
  if (matcher.clauses.empty()) {
    std::vector<uint32_t> numbers;
    numbers.reserve(postings != nullptr ? postings->size() : count_);
    if (postings != nullptr) {
      postings->ForEach([&](uint32_t number) { numbers.push_back(number); });
    } else {
      ForEachSeries([&](uint32_t number) { numbers.push_back(number); });
    }
    return numbers;
  }
  if (const auto few = MatchFewSets(matcher.clauses)) {
    return SeriesOf(*few, postings, [&](uint32_t set) {
      return std::binary_search(few->begin(), few->end(), set);
    });
  }
  const Roaring sets = MatchSets(matcher.clauses);
  return SeriesOf(sets, postings, [&](uint32_t set) { return sets.contains(set); });
}

uint64_t TagIndex::MatchesAtMost(ByteView metric, const SeriesMatcher& matcher) const {
  constexpr uint64_t kSetsCounted = 4096;  // clauses with more tag sets are ignored
  uint64_t most = UINT64_MAX;
  if (!metric.empty()) {
    const auto found = metrics_.find(metric);
    most = found != metrics_.end() ? found->second.size() : 0;
  }
  for (const TagClause& clause : matcher.clauses) {
    if (clause.kind != TagClause::Kind::kOneOf) continue;
    const std::vector<const Postings*> lists = ListsOf(clause);
    uint64_t sets = 0;
    for (const Postings* list : lists) sets += list->size();
    if (sets > kSetsCounted) continue;
    uint64_t series = 0;
    for (const Postings* list : lists) {
      list->ForEach([&](uint32_t set) { series += sets_[set].series; });
    }
    most = std::min(most, series);
  }
  return most;
}

std::vector<Bytes> TagIndex::Metrics() const {
  std::vector<Bytes> metrics;
  for (const auto& [metric, postings] : metrics_) metrics.push_back(metric);
  return metrics;
}

size_t TagIndex::bytes() const {
  return bytes_ + keys_.bytes() + pairs_.bytes() + series_bytes_ +
         series_.capacity() * sizeof(series_[0]) + sets_.capacity() * sizeof(TagSet) +
         set_slots_.bytes();
}

}  // namespace hg::engine
