#include "query/expression/identity.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "query/expression/limits.h"
#include "storage/codec/row_key.h"

namespace hg::query {
namespace {

// Without tags the key is empty, whatever is aggregated.
Bytes JoinKey(const SeriesIdentity& series, const JoinRule& rule,
              const std::vector<Bytes>& filter_keys) {
  Bytes key;
  if (series.tags.empty()) return key;
  for (const SeriesIdentity::Tag& tag : series.tags) {
    if (rule.use_query_tags &&
        !std::binary_search(filter_keys.begin(), filter_keys.end(), tag.key.uid)) {
      continue;
    }
    key += tag.key.uid;
    key += tag.value.uid;
  }
  if (rule.include_aggregated) {
    for (const SeriesIdentity::Name& name : series.aggregated) key += name.uid;
  }
  return key;
}

void Merge(const std::vector<SeriesIdentity::Name>& from, std::vector<SeriesIdentity::Name>* to) {
  for (const SeriesIdentity::Name& name : from) {
    auto at = std::lower_bound(to->begin(), to->end(), name,
                               [](const auto& a, const auto& b) { return a.uid < b.uid; });
    if (at == to->end() || at->uid != name.uid) to->insert(at, name);
  }
}

}  // namespace

SeriesIdentity Identify(const KeyLayout& layout, const Group& group) {
  SeriesIdentity out;
  if (group.tsuids.empty()) return out;
  std::map<ByteView, ByteView> values;
  std::set<ByteView> several;
  for (const Bytes& tsuid : group.tsuids) {
    codec::ForEachPair(layout, tsuid, [&](ByteView tagk, ByteView tagv) {
      auto [it, added] = values.try_emplace(tagk, tagv);
      if (!added && it->second != tagv) several.insert(tagk);
    });
  }
  for (const auto& [tagk, tagv] : values) {
    if (several.contains(tagk)) {
      out.aggregated.push_back({Bytes(tagk), group.aggregate_tags[out.aggregated.size()]});
    } else {
      const auto& [key, value] = group.tags[out.tags.size()];
      out.tags.push_back({{Bytes(tagk), key}, {Bytes(tagv), value}});
    }
  }
  const auto metric_width = static_cast<size_t>(layout.metric_width);
  out.metrics.push_back({group.tsuids[0].substr(0, metric_width), group.metric});
  return out;
}

SeriesIdentity Unite(std::span<const SeriesIdentity* const> parts) {
  SeriesIdentity out;
  if (!parts.empty() && parts[0] != nullptr) out.tags = parts[0]->tags;
  for (const SeriesIdentity* part : parts) {
    if (part == nullptr) continue;
    Merge(part->aggregated, &out.aggregated);
    Merge(part->metrics, &out.metrics);
  }
  return out;
}

Result<std::vector<JoinedSeries>> Join(const JoinRule& rule, std::span<const JoinSide> sides) {
  std::map<Bytes, JoinedSeries> by_key;
  for (size_t side = 0; side < sides.size(); ++side) {
    for (size_t i = 0; i < sides[side].series.size(); ++i) {
      Bytes key = JoinKey(*sides[side].series[i], rule, sides[side].filter_keys);
      auto [it, added] = by_key.try_emplace(std::move(key), sides.size(), kLacking);
      it->second[side] = i;
    }
  }
  std::vector<JoinedSeries> out;
  for (auto& [key, members] : by_key) {
    bool complete = std::find(members.begin(), members.end(), kLacking) == members.end();
    if (complete || !rule.intersection) out.push_back(std::move(members));
  }
  // Without any series there is nothing that could have met: no error (recorded).
  if (rule.intersection && out.empty() && !by_key.empty()) {
    return Status::InvalidArgument(
        "No intersections found: the variables have no series in common");
  }
  if (out.size() > kJoinedSeriesMax) {
    return Status::LimitExceeded("The join has " + std::to_string(out.size()) +
                                 " series, the most is " + std::to_string(kJoinedSeriesMax));
  }
  return out;
}

}  // namespace hg::query
