#include <algorithm>
#include <iterator>
#include <utility>

#include "query/sub_query_run.h"

namespace hg::query {
namespace {

/// Appends the points of a later part of the query to `out`. The later part may begin before `out`
/// ends. Then the times that both scans cover occur twice, as in OpenTSDB.
void Append(Group part, Group* out) {
  if (out->metric.empty()) out->metric = std::move(part.metric);
  std::vector<std::pair<Bytes, Bytes>>& tags = out->tags.Edit();
  for (auto& tag : part.tags.Edit()) {
    const auto known = std::find_if(tags.begin(), tags.end(),
                                    [&](const auto& other) { return other.first == tag.first; });
    if (known != tags.end()) {
      known->second = std::move(tag.second);
    } else {
      tags.push_back(std::move(tag));
    }
  }
  const auto add = [](auto& from, auto* to) {
    to->insert(to->end(), std::make_move_iterator(from.begin()),
               std::make_move_iterator(from.end()));
  };
  add(part.aggregate_tags.Edit(), &out->aggregate_tags.Edit());
  std::vector<Bytes>& tsuids = out->tsuids.Edit();
  add(part.tsuids.Edit(), &tsuids);
  std::sort(tsuids.begin(), tsuids.end());
  tsuids.erase(std::unique(tsuids.begin(), tsuids.end()), tsuids.end());
  add(part.annotations.Edit(), &out->annotations.Edit());
  // All downsampled points are doubles, so neither part has kinds.
  add(part.points.time_ms, &out->points.time_ms);
  add(part.points.bits, &out->points.bits);
  out->points.all_double |= part.points.all_double;
}

/// Merges two lists of groups. Both must be in ascending order of id.
std::vector<Group> Joined(std::vector<Group> rollups, std::vector<Group> raw) {
  std::vector<Group> out;
  auto later = raw.begin();
  for (Group& group : rollups) {
    while (later != raw.end() && later->id < group.id) out.push_back(std::move(*later++));
    out.push_back(std::move(group));
    if (later != raw.end() && later->id == out.back().id) Append(std::move(*later++), &out.back());
  }
  std::move(later, raw.end(), std::back_inserter(out));
  return out;
}

void Add(const SubQueryStats& part, SubQueryStats* sum) {
  sum->rows_before += part.rows_before;
  sum->rows_after += part.rows_after;
  sum->points_before += part.points_before;
  sum->points_after += part.points_after;
  sum->emitted_points += part.emitted_points;
  sum->names_resolved += part.names_resolved;
  sum->scan_ns += part.scan_ns;
  sum->filter_ns += part.filter_ns;
  sum->group_ns += part.group_ns;
  sum->aggregate_ns += part.aggregate_ns;
  sum->names_ns += part.names_ns;
}

}  // namespace

Status SubQueryRun::RunParts(int64_t split_ms) {
  SubQueryRun rollups(context_, index_, start_ms_, split_ms, TablesAllowed::kRollups);
  SubQueryRun raw(context_, index_, split_ms, end_ms_, TablesAllowed::kRaw);
  RETURN_IF_ERROR(rollups.Run());
  info_ = rollups.info();
  // If the first part failed, its groups precede the failure, and those of the second part do not.
  if (info_.failure.ok()) {
    RETURN_IF_ERROR(raw.Run());
    info_.failure = raw.info().failure;
    Add(raw.info().stats, &info_.stats);
  }
  if (info_.failure.ok() || context_.on_failure == OnFailure::kLeaveWhatPrecedes)
    groups_ = Joined(std::move(rollups.groups()), std::move(raw.groups()));
  tsuids_ = std::move(rollups.tsuids_);
  tsuids_.insert(tsuids_.end(), raw.tsuids_.begin(), raw.tsuids_.end());
  return {};
}

}  // namespace hg::query
