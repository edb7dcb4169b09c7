#include "query/group.h"

#include <algorithm>
#include <map>

#include "storage/codec/row_key.h"
#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

/// A time as OpenTSDB's SpanGroup takes it where it admits series: milliseconds of the first seven
/// weeks of 1970 look like seconds there, those of points and those of the window.
int64_t AsSpanGroupReads(int64_t time_ms) {
  return time_ms <= int64_t{UINT32_MAX} ? time_ms * 1000 : time_ms;
}

void Join(const Series& series, const ScanWindow& window, SeriesGroup* group) {
  if (series.raw_points == 0) {
    for (const codec::Annotation& a : series.annotations) {
      int64_t start = Timestamp{a.start_time}.millis();
      int64_t end = a.end_time == 0 ? start : Timestamp{a.end_time}.millis();
      if (end >= window.begin_ms() && start <= window.end_ms()) group->annotations.push_back(a);
    }
    return;
  }
  if (AsSpanGroupReads(series.first_point_ms) > AsSpanGroupReads(window.end_ms()) ||
      AsSpanGroupReads(series.last_point_ms) < AsSpanGroupReads(window.begin_ms()))
    return;
  group->members.push_back(&series);
  group->annotations.insert(group->annotations.end(), series.annotations.begin(),
                            series.annotations.end());
}

Bytes GroupId(const KeyLayout& layout, ByteView tsuid, std::span<const Bytes> group_by) {
  Bytes id;
  for (const Bytes& wanted : group_by) {
    codec::ForEachPair(layout, tsuid, [&](ByteView tagk, ByteView tagv) {
      if (tagk == wanted) id.append(tagv);
    });
  }
  return id;
}

/// What the series of a group have of a tag key.
struct Tag {
  ByteView key, value;
  bool differs = false;  // some have another value
};

// Series of a group mostly have the same keys, in the same order.
void AddTags(const KeyLayout& layout, ByteView tsuid, std::vector<Tag>* tags) {
  auto at = tags->begin();
  codec::ForEachPair(layout, tsuid, [&](ByteView tagk, ByteView tagv) {
    if (at == tags->end() || at->key != tagk) {
      at = std::lower_bound(tags->begin(), tags->end(), tagk,
                            [](const Tag& tag, ByteView key) { return tag.key < key; });
    }
    if (at == tags->end() || at->key != tagk) at = tags->insert(at, {tagk, tagv});
    at->differs = at->differs || at->value != tagv;
    ++at;
  });
}

}  // namespace

std::vector<SeriesGroup> FormGroups(const KeyLayout& layout, const std::vector<Series>& series,
                                    bool each_alone, std::span<const Bytes> group_by,
                                    const ScanWindow& window) {
  std::vector<SeriesGroup> out;
  if (series.empty()) return out;
  if (each_alone) {
    out.resize(series.size());
    for (size_t i = 0; i < series.size(); ++i) {
      out[i].id = series[i].order;
      Join(series[i], window, &out[i]);
    }
    return out;
  }
  if (group_by.empty()) {
    out.resize(1);
    out[0].members.reserve(series.size());
    for (const Series& s : series) Join(s, window, &out[0]);
    return out;
  }
  // Mostly they come in order.
  std::map<Bytes, size_t> places;  // in `out`, of all groups once one has come out of order
  for (const Series& s : series) {
    Bytes id = GroupId(layout, s.tsuid, group_by);
    size_t place = out.size();
    if (places.empty() && (out.empty() || out.back().id <= id)) {
      if (!out.empty() && out.back().id == id) --place;
    } else {
      if (places.empty()) {
        for (size_t i = 0; i < out.size(); ++i) places.emplace(out[i].id, i);
      }
      place = places.try_emplace(id, place).first->second;
    }
    if (place == out.size()) out.emplace_back().id = std::move(id);
    Join(s, window, &out[place]);
  }
  if (!places.empty()) {
    std::sort(out.begin(), out.end(),
              [](const SeriesGroup& a, const SeriesGroup& b) { return a.id < b.id; });
  }
  return out;
}

// A key with one value wherever it occurs is a tag, even where some series lack it (quirk Q8).
Status Describe(const KeyLayout& layout, const SeriesGroup& group, NameMemo* names, Group* out) {
  out->id = group.id;
  out->annotations = group.annotations;
  std::stable_sort(out->annotations.begin(), out->annotations.end(),
                   [](const codec::Annotation& a, const codec::Annotation& b) {
                     return a.start_time < b.start_time;
                   });
  if (group.members.empty()) return {};
  ByteView metric =
      ByteView(group.members[0]->tsuid).substr(0, static_cast<size_t>(layout.metric_width));
  ASSIGN_OR_RETURN(const Bytes* metric_name, names->NameOf(UidKind::kMetric, metric));
  out->metric = *metric_name;

  std::vector<Tag> tags;  // by key
  tags.reserve(group.members[0]->tsuid.size() / static_cast<size_t>(layout.pair_width()));
  out->tsuids.reserve(group.members.size());
  for (const Series* s : group.members) {
    AddTags(layout, s->tsuid, &tags);
    out->tsuids.push_back(s->tsuid);
  }
  std::sort(out->tsuids.begin(), out->tsuids.end());
  out->tags.reserve(tags.size());
  for (const Tag& tag : tags) {
    ASSIGN_OR_RETURN(const Bytes* key, names->NameOf(UidKind::kTagk, tag.key));
    if (tag.differs) {
      out->aggregate_tags.push_back(*key);
      continue;
    }
    ASSIGN_OR_RETURN(const Bytes* value, names->NameOf(UidKind::kTagv, tag.value));
    out->tags.emplace_back(*key, *value);
  }
  return {};
}

}  // namespace hg::query
