#include "storage/points/tag_index.h"

#include <algorithm>
#include <roaring/roaring.hh>

#include "storage/codec/row_key.h"

namespace hg::points {

Postings::Postings() = default;
Postings::~Postings() = default;
Postings::Postings(Postings&&) noexcept = default;
Postings& Postings::operator=(Postings&&) noexcept = default;

void Postings::Add(uint32_t number) {
  if (bitmap_ != nullptr) {
    bitmap_->add(number);
    return;
  }
  if (list_.size() < kListMax) {
    if (list_.size() == list_.capacity())
      list_.reserve(list_.empty() ? 1 : list_.size() * 3 / 2 + 1);
    list_.push_back(number);
    return;
  }
  bitmap_ = std::make_unique<Roaring>(list_.size(), list_.data());
  bitmap_->add(number);
  list_ = {};
}

void Postings::AddTo(Roaring* set) const {
  if (bitmap_ != nullptr) {
    *set |= *bitmap_;
  } else {
    set->addMany(list_.size(), list_.data());
  }
}

void Postings::RetainIn(Roaring* set) const {
  if (bitmap_ != nullptr) {
    *set &= *bitmap_;
  } else {
    *set &= Roaring(list_.size(), list_.data());
  }
}

uint64_t Postings::size() const { return bitmap_ ? bitmap_->cardinality() : list_.size(); }

size_t Postings::bytes() const {
  return bitmap_ ? bitmap_->getSizeInBytes(false) : list_.capacity() * sizeof(uint32_t);
}

void TagIndex::Add(uint32_t number, ByteView tsuid) {
  // A node with its key and lists' heads; numbers themselves are 4 bytes or less each.
  constexpr size_t kNodeBytes = 112;
  const ByteView metric = tsuid.substr(0, static_cast<size_t>(layout_.metric_width));
  auto found = metrics_.find(metric);
  if (found == metrics_.end()) {
    found = metrics_.emplace(Bytes(metric), Postings()).first;
    bytes_ += kNodeBytes;
  }
  found->second.Add(number);
  bytes_ += 3;
  Bytes key;
  codec::ForEachPair(layout_, tsuid, [&](ByteView tagk, ByteView tagv) {
    key = tagk;
    auto [by_key, new_key] = keys_.try_emplace(key);
    by_key->second.Add(number);
    key += tagv;
    auto [by_pair, new_pair] = pairs_.try_emplace(key);
    by_pair->second.Add(number);
    bytes_ += (new_key ? kNodeBytes : 0) + (new_pair ? kNodeBytes : 0) + 6;
  });
}

void TagIndex::AddOneOf(const TagClause& clause, Roaring* set) const {
  for (const Bytes& value : clause.values) {
    if (auto pair = pairs_.find(clause.tagk + value); pair != pairs_.end()) pair->second.AddTo(set);
  }
}

// Begins with the series of some values, which mostly are few, and leaves those of the metric.
std::vector<uint32_t> TagIndex::Match(ByteView metric, const SeriesMatcher& matcher) const {
  Roaring result;
  const auto first =
      std::find_if(matcher.clauses.begin(), matcher.clauses.end(),
                   [](const TagClause& clause) { return clause.kind == TagClause::Kind::kOneOf; });
  const auto of_metric = metrics_.find(metric);
  if (!metric.empty() && of_metric == metrics_.end()) return {};
  if (first != matcher.clauses.end()) {
    AddOneOf(*first, &result);
    if (!metric.empty()) of_metric->second.RetainIn(&result);
  } else if (metric.empty()) {
    for (const auto& [name, postings] : metrics_) postings.AddTo(&result);
  } else {
    of_metric->second.AddTo(&result);
  }
  for (auto clause = matcher.clauses.begin(); clause != matcher.clauses.end(); ++clause) {
    if (result.isEmpty()) break;
    if (clause == first) continue;
    Roaring with;
    if (clause->kind == TagClause::Kind::kOneOf) {
      AddOneOf(*clause, &with);
    } else if (auto key = keys_.find(clause->tagk); key != keys_.end()) {
      key->second.AddTo(&with);
    }
    if (clause->kind == TagClause::Kind::kAbsent) {
      result -= with;
    } else {
      result &= with;
    }
  }
  std::vector<uint32_t> numbers(result.cardinality());
  if (!numbers.empty()) result.toUint32Array(numbers.data());
  return numbers;
}

uint64_t TagIndex::MatchesAtMost(ByteView metric, const SeriesMatcher& matcher) const {
  uint64_t most = UINT64_MAX;
  if (!metric.empty()) {
    const auto found = metrics_.find(metric);
    most = found != metrics_.end() ? found->second.size() : 0;
  }
  for (const TagClause& clause : matcher.clauses) {
    if (clause.kind != TagClause::Kind::kOneOf) continue;
    uint64_t with = 0;
    for (const Bytes& value : clause.values) {
      const auto pair = pairs_.find(clause.tagk + value);
      if (pair != pairs_.end()) with += pair->second.size();
    }
    most = std::min(most, with);
  }
  return most;
}

std::vector<Bytes> TagIndex::Metrics() const {
  std::vector<Bytes> metrics;
  for (const auto& [metric, postings] : metrics_) metrics.push_back(metric);
  return metrics;
}

}  // namespace hg::points
