#include "storage/region/split_policy.h"

#include <algorithm>
#include <cmath>

#include "storage/model/timestamp.h"
#include "storage/region/spread.h"

namespace hg::region {
namespace {

// The first hour of a day is preferred if the halves then differ by at most this fraction.
constexpr double kGoodShare = 0.1;

struct Candidate {
  Bytes key;
  uint64_t before = 0;  // bytes of the groups before this one
};

// Returns the candidate nearest to half of the total, or null if there are none.
const Candidate* Nearest(const std::vector<Candidate>& all, uint64_t total) {
  const auto off = [&](const Candidate& c) {
    return c.before * 2 > total ? c.before * 2 - total : total - c.before * 2;
  };
  const auto best =
      std::min_element(all.begin(), all.end(),
                       [&](const Candidate& a, const Candidate& b) { return off(a) < off(b); });
  return best == all.end() ? nullptr : &*best;
}

double Unevenness(const Candidate& c, uint64_t total) {
  return std::abs(2.0 * static_cast<double>(c.before) / static_cast<double>(total) - 1);
}

// Returns the salt and metric at the beginning of a group key.
ByteView MetricOf(const KeyLayout& layout, ByteView key) {
  return key.substr(0, static_cast<size_t>(layout.salt_width + layout.metric_width));
}

bool BeginsDay(const KeyLayout& layout, ByteView key) {
  const auto prefix = static_cast<size_t>(layout.salt_width + layout.metric_width);
  return key.size() == prefix + 4 && ReadBig32(key.data() + prefix) % kDayS == 0;
}

}  // namespace

std::optional<uint64_t> SplitThreshold(const SplitPolicy& policy, size_t regions, uint64_t seed) {
  const double shift = (Spread(seed) - 0.5) * policy.jitter;
  const auto max = static_cast<uint64_t>(static_cast<double>(policy.bytes_max) * (1 + shift));
  constexpr size_t kRegionsMax = 100;  // with more regions, the threshold no longer grows
  const bool few = regions >= 1 && regions <= kRegionsMax;
  switch (policy.rule) {
    case SplitRule::kNone:
      return std::nullopt;
    case SplitRule::kConstant:
      return max;
    case SplitRule::kIncreasingCubed:
      return few ? std::min(max, regions * regions * regions * 2 * policy.unit_bytes) : max;
    case SplitRule::kIncreasingSquared:
      return few ? std::min(max, regions * regions * policy.unit_bytes) : max;
    case SplitRule::kStepping:
      return regions == 1 ? std::min(max, 2 * policy.unit_bytes) : max;
  }
  return std::nullopt;
}

SplitRule RuleOf(const SplitPolicy& settings, const TableSplitPolicy& table) {
  switch (table.kind) {
    case TableSplitPolicy::Kind::kDefault:
      return settings.rule;
    case TableSplitPolicy::Kind::kDisabled:
      return SplitRule::kNone;
    case TableSplitPolicy::Kind::kConstantSize:
      return SplitRule::kConstant;
    case TableSplitPolicy::Kind::kStepping:
      return SplitRule::kStepping;
    case TableSplitPolicy::Kind::kIncreasing:
    case TableSplitPolicy::Kind::kKeyPrefix:
    case TableSplitPolicy::Kind::kDelimitedKeyPrefix:
      return SplitRule::kIncreasingCubed;
  }
  return settings.rule;
}

ByteView GroupOf(const TableSplitPolicy& table, ByteView key) {
  if (table.kind == TableSplitPolicy::Kind::kKeyPrefix) return key.substr(0, table.prefix_length);
  if (table.kind != TableSplitPolicy::Kind::kDelimitedKeyPrefix) return key;
  const size_t at = key.find(table.delimiter);
  return at == ByteView::npos ? key : key.substr(0, at + table.delimiter.size());
}

std::optional<Bytes> SplitPoint(const std::vector<GroupWeight>& groups, const KeyLayout* layout) {
  uint64_t total = 0;
  for (const GroupWeight& group : groups) total += std::max<uint64_t>(group.bytes, 1);
  std::vector<Candidate> any, metrics, days;
  uint64_t before = 0, metric_bytes = 0, metric_bytes_max = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Bytes& key = groups[i].key;
    const uint64_t bytes = std::max<uint64_t>(groups[i].bytes, 1);
    const bool new_metric =
        layout != nullptr &&
        (i == 0 || MetricOf(*layout, key) != MetricOf(*layout, groups[i - 1].key));
    if (new_metric) metric_bytes = 0;
    metric_bytes += bytes;
    metric_bytes_max = std::max(metric_bytes_max, metric_bytes);
    if (i > 0) {
      any.push_back({key, before});
      if (new_metric) metrics.push_back({Bytes(MetricOf(*layout, key)), before});
      if (layout != nullptr && BeginsDay(*layout, key)) days.push_back({key, before});
    }
    before += bytes;
  }
  const Candidate* best = Nearest(any, total);
  if (best == nullptr) return std::nullopt;
  if (layout == nullptr) return best->key;
  if (metric_bytes_max * 2 <= total) return Nearest(metrics, total)->key;
  const Candidate* day = Nearest(days, total);
  if (day != nullptr && Unevenness(*day, total) <= kGoodShare) return day->key;
  // If the hour nearest to the middle is the first one of its metric, the split key is the metric.
  const auto metric = std::find_if(metrics.begin(), metrics.end(),
                                   [&](const Candidate& c) { return c.before == best->before; });
  return metric != metrics.end() ? metric->key : best->key;
}

}  // namespace hg::region
