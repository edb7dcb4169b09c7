#include "query/group.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "storage/base/checked_sort.h"
#include "storage/codec/row_key.h"
#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

// Approximate memory for finding a group by its id.
constexpr size_t kPlaceBytes = 128;
// Approximate memory of a tag while a group is described: its entries in the map and the result.
constexpr size_t kTagBytes = 192;
// The cost of looking up the names of a tag, in steps (a step is about a point).
constexpr uint64_t kNameSteps = 64;
constexpr uint64_t kPairsPerStep = 4, kStepsPerReport = 4096;

/// Returns a time as OpenTSDB's SpanGroup interprets it when it decides which series belong to a
/// window. It interprets milliseconds in the first seven weeks of 1970 as seconds, for times of
/// points and of the window.
int64_t AsSpanGroupReads(int64_t time_ms) {
  return time_ms <= int64_t{UINT32_MAX} ? time_ms * 1000 : time_ms;
}

void Join(const Series& series, const ScanWindow& window, SeriesGroup* group) {
  if (series.raw_points == 0) {
    for (const codec::Annotation& a : series.annotations) {
      int64_t start = Timestamp{a.start_time}.millis();
      int64_t end = a.end_time == 0 ? start : Timestamp{a.end_time}.millis();
      if (end >= window.begin_ms() && start <= window.end_ms()) group->annotations.push_back(&a);
    }
    return;
  }
  if (AsSpanGroupReads(series.first_point_ms) > AsSpanGroupReads(window.end_ms()) ||
      AsSpanGroupReads(series.last_point_ms) < AsSpanGroupReads(window.begin_ms()))
    return;
  group->members.push_back(&series);
  for (const codec::Annotation& a : series.annotations) group->annotations.push_back(&a);
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

/// The value of a tag key in the series of a group.
struct TagValue {
  ByteView value;
  bool differs = false;  // some series have another value
};
using TagsByKey = std::map<ByteView, TagValue>;

// Adds the tags of a series. Series of a group usually have the same keys in the same order, so the
// position after the previous key is tried first.
void AddTags(const KeyLayout& layout, ByteView tsuid, TagsByKey* tags) {
  auto at = tags->begin();
  codec::ForEachPair(layout, tsuid, [&](ByteView tagk, ByteView tagv) {
    if (at == tags->end() || at->first != tagk) at = tags->lower_bound(tagk);
    if (at == tags->end() || at->first != tagk) at = tags->emplace_hint(at, tagk, TagValue{tagv});
    at->second.differs = at->second.differs || at->second.value != tagv;
    ++at;
  });
}

}  // namespace

Result<std::vector<SeriesGroup>> FormGroups(const KeyLayout& layout,
                                            const std::vector<Series>& series, bool each_alone,
                                            std::span<const Bytes> group_by,
                                            const ScanWindow& window, MemoryTally* memory) {
  std::vector<SeriesGroup> out;
  if (series.empty()) return out;
  size_t annotations = 0;
  for (const Series& s : series) annotations += s.annotations.size();
  // The vectors grow by doubling. Each series may become a separate group, and groups are looked up
  // by their ids.
  const bool many = each_alone || !group_by.empty();
  const size_t each = 2 * sizeof(void*) + (many ? 2 * sizeof(SeriesGroup) + kPlaceBytes : 0);
  RETURN_IF_ERROR(
      memory->Add(static_cast<int64_t>(series.size() * each + annotations * 2 * sizeof(void*))));
  // Each tag pair of a series is compared with each group-by key.
  const auto pairs = series[0].tsuid.size() / static_cast<size_t>(layout.pair_width());
  const uint64_t steps_each = 1 + (each_alone ? 0 : group_by.size() * pairs / kPairsPerStep);
  if (each_alone) {
    out.resize(series.size());
    RETURN_IF_ERROR(memory->Step(series.size()));
    for (size_t i = 0; i < series.size(); ++i) {
      out[i].id = series[i].order;
      Join(series[i], window, &out[i]);
    }
    return out;
  }
  if (group_by.empty()) {
    out.resize(1);
    RETURN_IF_ERROR(memory->Step(series.size()));
    out[0].members.reserve(series.size());
    for (const Series& s : series) Join(s, window, &out[0]);
    return out;
  }
  // The ids of groups usually ascend, so `places` is rarely needed.
  std::map<Bytes, size_t> places;  // id → index in `out`; empty while ids ascend
  uint64_t steps = 0;
  for (const Series& s : series) {
    if ((steps += steps_each) >= kStepsPerReport)
      RETURN_IF_ERROR(memory->Step(std::exchange(steps, 0)));
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
    const auto by_id = [](const SeriesGroup& a, const SeriesGroup& b) { return a.id < b.id; };
    RETURN_IF_ERROR(CheckedSort(&out, by_id, memory));
  }
  return out;
}

// Fills the description of a group. A tag key becomes a tag of the group if all series that have
// the key have the same value. Some series may lack the key (quirk Q8).
Status Describe(const KeyLayout& layout, const SeriesGroup& group, NameMemo* names, Group* out) {
  MemoryTally memory(&names->context());
  uint64_t steps = 0;
  const auto add_steps = [&](uint64_t more) {
    return (steps += more) < kStepsPerReport ? Status() : memory.Step(std::exchange(steps, 0));
  };
  out->id = group.id;
  std::vector<codec::Annotation> annotations;
  annotations.reserve(group.annotations.size());
  for (const codec::Annotation* a : group.annotations) annotations.push_back(*a);
  const auto by_start = [](const codec::Annotation& a, const codec::Annotation& b) {
    return a.start_time < b.start_time;
  };
  RETURN_IF_ERROR(CheckedSort(&annotations, by_start, &memory));
  out->annotations = std::move(annotations);
  if (group.members.empty()) return {};
  ByteView metric =
      ByteView(group.members[0]->tsuid).substr(0, static_cast<size_t>(layout.metric_width));
  ASSIGN_OR_RETURN(const Bytes* metric_name, names->NameOf(UidKind::kMetric, metric));
  out->metric = *metric_name;

  TagsByKey tags;
  std::vector<Bytes> tsuids;
  tsuids.reserve(group.members.size());
  for (const Series* s : group.members) {
    RETURN_IF_ERROR(add_steps(1 + s->tsuid.size() / static_cast<size_t>(layout.pair_width())));
    const size_t known = tags.size();
    AddTags(layout, s->tsuid, &tags);
    // The caller has charged the tags of one series, and most groups have no other tag keys.
    if (known > 0 && tags.size() > known)
      RETURN_IF_ERROR(memory.Add(static_cast<int64_t>((tags.size() - known) * kTagBytes)));
    tsuids.push_back(s->tsuid);
  }
  if (!std::is_sorted(tsuids.begin(), tsuids.end()))
    RETURN_IF_ERROR(CheckedSort(&tsuids, std::less<>(), &memory));
  out->tsuids = std::move(tsuids);
  std::vector<std::pair<Bytes, Bytes>> alike;
  std::vector<Bytes> differing;
  alike.reserve(tags.size());
  const auto hold = [&](const Bytes& name) {
    return name.size() > kTagBytes ? memory.Add(static_cast<int64_t>(name.size())) : Status();
  };
  for (const auto& [tagk, tag] : tags) {
    RETURN_IF_ERROR(add_steps(kNameSteps));
    ASSIGN_OR_RETURN(const Bytes* key, names->NameOf(UidKind::kTagk, tagk));
    RETURN_IF_ERROR(hold(*key));
    if (tag.differs) {
      differing.push_back(*key);
      continue;
    }
    ASSIGN_OR_RETURN(const Bytes* value, names->NameOf(UidKind::kTagv, tag.value));
    RETURN_IF_ERROR(hold(*value));
    alike.emplace_back(*key, *value);
  }
  out->tags = std::move(alike);
  out->aggregate_tags = std::move(differing);
  return {};
}

}  // namespace hg::query
