#include "storage/points/match_series.h"

#include <algorithm>

namespace hg::points {
namespace {

// Iterates over the tag pairs of a row key.
class Pairs {
 public:
  Pairs(const KeyLayout& layout, ByteView bytes)
      : bytes_(bytes),
        tagk_width_(static_cast<size_t>(layout.tagk_width)),
        pair_width_(static_cast<size_t>(layout.pair_width())) {}

  [[nodiscard]] bool whole() const { return bytes_.size() % pair_width_ == 0; }
  [[nodiscard]] size_t size() const { return bytes_.size() / pair_width_; }
  [[nodiscard]] ByteView tagk(size_t i) const {
    return bytes_.substr(i * pair_width_, tagk_width_);
  }
  [[nodiscard]] ByteView tagv(size_t i) const {
    return bytes_.substr(i * pair_width_ + tagk_width_, pair_width_ - tagk_width_);
  }

 private:
  ByteView bytes_;
  size_t tagk_width_;
  size_t pair_width_;
};

bool Holds(const TagClause& clause, const Pairs& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs.tagk(i) != clause.tagk) continue;
    switch (clause.kind) {
      case TagClause::Kind::kAny:
        return true;
      case TagClause::Kind::kAbsent:
        return false;
      case TagClause::Kind::kOneOf:
        if (std::binary_search(clause.values.begin(), clause.values.end(), pairs.tagv(i))) {
          return true;
        }
    }
  }
  return clause.kind == TagClause::Kind::kAbsent;
}

bool NamesEveryKey(const std::vector<TagClause>& clauses, const Pairs& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto names = [&](const TagClause& clause) { return clause.tagk == pairs.tagk(i); };
    if (std::none_of(clauses.begin(), clauses.end(), names)) return false;
  }
  return true;
}

// Returns whether the TSUID of metric and pairs is in the sorted list, without building that
// string.
bool Listed(const std::vector<Bytes>& tsuids, ByteView metric, ByteView pairs) {
  auto it = std::lower_bound(tsuids.begin(), tsuids.end(), 0, [&](const Bytes& listed, int) {
    const int head = ByteView(listed).substr(0, metric.size()).compare(metric);
    if (head != 0) return head < 0;
    return ByteView(listed).substr(std::min(listed.size(), metric.size())) < pairs;
  });
  return it != tsuids.end() && it->size() == metric.size() + pairs.size() &&
         it->starts_with(metric) && it->ends_with(pairs);
}

}  // namespace

bool MatchesSeries(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView metric,
                   ByteView pairs) {
  if (MatchesAll(matcher)) return true;
  const Pairs walk(layout, pairs);
  if (!walk.whole()) return false;
  if (!matcher.tsuids.empty() && !Listed(matcher.tsuids, metric, pairs)) return false;
  if (matcher.exact_tags && !NamesEveryKey(matcher.clauses, walk)) return false;
  return std::all_of(matcher.clauses.begin(), matcher.clauses.end(),
                     [&](const TagClause& clause) { return Holds(clause, walk); });
}

bool MatchesTsuid(const SeriesMatcher& matcher, const KeyLayout& layout, ByteView tsuid) {
  const auto width = std::min(tsuid.size(), static_cast<size_t>(layout.metric_width));
  return MatchesSeries(matcher, layout, tsuid.substr(0, width), tsuid.substr(width));
}

}  // namespace hg::points
