#include "query/expression/identity.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "query/expression/limits.h"
#include "storage/codec/row_key.h"

namespace hg::query {
namespace {

// Returns the join key. If the series has no tags, the key is empty, even if it has aggregated
// tags.
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

constexpr uint64_t kIdentitySteps = 8;

// The values of a tag key in a group.
struct Values {
  ByteView first;
  bool several = false;
};

size_t BytesOf(const SeriesIdentity::Name& name) {
  return sizeof(name) + name.uid.size() + name.name.size();
}

Status Tell(RequestContext* context, uint64_t steps, size_t bytes) {
  if (context == nullptr) return {};
  RETURN_IF_ERROR(context->Step(steps));
  return context->Charge(static_cast<int64_t>(bytes));
}

}  // namespace

Result<SeriesIdentity> Identifier::Identify(const Group& group) {
  SeriesIdentity out;
  if (group.tsuids.empty()) return out;
  size_t bytes = sizeof(SeriesIdentity) + sizeof(SeriesIdentity::Name);
  for (const auto& [key, value] : group.tags)
    bytes += sizeof(SeriesIdentity::Tag) + key.size() + value.size();
  for (const Bytes& key : group.aggregate_tags) bytes += sizeof(SeriesIdentity::Name) + key.size();
  RETURN_IF_ERROR(Tell(context_, kIdentitySteps * group.tsuids.size(), bytes));
  std::map<ByteView, Values> values;
  for (const Bytes& tsuid : group.tsuids) {
    codec::ForEachPair(layout_, tsuid, [&](ByteView tagk, ByteView tagv) {
      Values& of_key = values.try_emplace(tagk, Values{tagv, false}).first->second;
      of_key.several = of_key.several || of_key.first != tagv;
    });
  }
  std::vector<SeriesIdentity::Tag> tags;
  std::vector<SeriesIdentity::Name> aggregated;
  for (const auto& [tagk, of_key] : values) {
    if (of_key.several) {
      aggregated.push_back({Bytes(tagk), group.aggregate_tags[aggregated.size()]});
    } else {
      const auto& [key, value] = group.tags[tags.size()];
      tags.push_back({{Bytes(tagk), key}, {Bytes(of_key.first), value}});
    }
  }
  out.tags = std::move(tags);
  out.aggregated = std::move(aggregated);
  const auto metric_width = static_cast<size_t>(layout_.metric_width);
  SeriesIdentity::Name metric{group.tsuids[0].substr(0, metric_width), group.metric};
  if (metrics_.empty() || metrics_[0] != metric) {
    RETURN_IF_ERROR(Tell(context_, 0, BytesOf(metric)));
    metrics_ = {std::move(metric)};
  }
  out.metrics = metrics_;
  return out;
}

Result<Uniter::Names> Uniter::United(std::span<const SeriesIdentity* const> parts,
                                     Names SeriesIdentity::*names) {
  Names out;
  size_t count = 0, bytes = 0;
  bool alike = true;  // all parts have the same list or an empty one
  for (const SeriesIdentity* part : parts) {
    if (part == nullptr || (part->*names).empty()) continue;
    if (out.empty()) out = part->*names;
    alike = alike && out == part->*names;
    count += (part->*names).size();
  }
  if (alike) return out;
  for (const SeriesIdentity* part : parts) {
    if (part == nullptr) continue;
    for (const SeriesIdentity::Name& name : part->*names) bytes += BytesOf(name);
  }
  RETURN_IF_ERROR(Tell(context_, kIdentitySteps * count, bytes));
  std::vector<SeriesIdentity::Name> all;
  all.reserve(count);
  for (const SeriesIdentity* part : parts) {
    if (part != nullptr) all.insert(all.end(), (part->*names).begin(), (part->*names).end());
  }
  const auto by_uid = [](const SeriesIdentity::Name& a, const SeriesIdentity::Name& b) {
    return a.uid < b.uid;
  };
  std::stable_sort(all.begin(), all.end(), by_uid);
  const auto same = [](const SeriesIdentity::Name& a, const SeriesIdentity::Name& b) {
    return a.uid == b.uid;
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return Names(std::move(all));
}

Result<SeriesIdentity> Uniter::Unite(std::span<const SeriesIdentity* const> parts) {
  RETURN_IF_ERROR(Tell(context_, kIdentitySteps + parts.size(), sizeof(SeriesIdentity)));
  SeriesIdentity out;
  if (!parts.empty() && parts[0] != nullptr) out.tags = parts[0]->tags;
  ASSIGN_OR_RETURN(out.aggregated, United(parts, &SeriesIdentity::aggregated));
  const auto metrics_of = [&parts](size_t k) -> const void* {
    return parts[k] != nullptr ? parts[k]->metrics.identity() : nullptr;
  };
  bool as_before = metrics_of_.size() == parts.size();
  for (size_t k = 0; k < parts.size() && as_before; ++k)
    as_before = metrics_of_[k] == metrics_of(k);
  if (!as_before) {
    ASSIGN_OR_RETURN(metrics_, United(parts, &SeriesIdentity::metrics));
    metrics_of_.clear();
    for (size_t k = 0; k < parts.size(); ++k) metrics_of_.push_back(metrics_of(k));
  }
  out.metrics = metrics_;
  return out;
}

Result<std::vector<JoinedSeries>> Join(const JoinRule& rule, std::span<const JoinSide> sides,
                                       MemoryTally* memory) {
  constexpr size_t kEntryBytes = 128;  // a map entry without its key and members
  std::map<Bytes, JoinedSeries> by_key;
  for (size_t side = 0; side < sides.size(); ++side) {
    for (size_t i = 0; i < sides[side].series.size(); ++i) {
      Bytes key = JoinKey(*sides[side].series[i], rule, sides[side].filter_keys);
      RETURN_IF_ERROR(memory->Step(kIdentitySteps + key.size() / kIdentitySteps));
      const size_t key_bytes = key.size();
      auto it = by_key.lower_bound(key);
      if (it == by_key.end() || it->first != key) {
        const size_t bytes = kEntryBytes + key_bytes + sides.size() * sizeof(size_t);
        RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(bytes)));
        it = by_key.try_emplace(it, std::move(key), sides.size(), kLacking);
      }
      it->second[side] = i;
    }
  }
  std::vector<JoinedSeries> out;
  for (auto& [key, members] : by_key) {
    RETURN_IF_ERROR(memory->Step(1 + members.size()));
    bool complete = std::find(members.begin(), members.end(), kLacking) == members.end();
    if (complete || !rule.intersection) out.push_back(std::move(members));
  }
  // An empty result is an error only if there are series (recorded).
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
