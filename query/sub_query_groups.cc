// The second half of a sub-query: groups the series, merges each group and names it.

#include <algorithm>
#include <iterator>
#include <utility>

#include "query/buckets/merge.h"
#include "query/buckets/rate.h"
#include "query/request/side_by_side.h"
#include "query/sub_query_run.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

// The cost of a series or a group in addition to its points, in steps (a step is about a point).
constexpr uint64_t kSeriesSteps = 8;

// Approximate memory of a name and of its entry in a table.
constexpr size_t kNameBytes = 64;

// Estimates the memory of the names of a group. The estimate uses the number of tags, which is
// computed from the length of a TSUID.
size_t NameBytes(const Bytes& tsuid) { return tsuid.size() / 3 * kNameBytes; }

// Minimum number of groups that are divided between threads. Merging and naming this many groups
// takes much longer than waking another thread.
constexpr size_t kGroupsInParts = 256;

// Removes buckets that begin before the scanned hours. A fill policy may create them, but the merge
// begins with the scanned hours.
void DropBefore(int64_t begin_ms, PointColumns* points) {
  auto first = std::lower_bound(points->time_ms.begin(), points->time_ms.end(), begin_ms);
  ptrdiff_t n = first - points->time_ms.begin();
  if (n == 0) return;
  points->time_ms.erase(points->time_ms.begin(), first);
  points->bits.erase(points->bits.begin(), points->bits.begin() + n);
  if (!points->kinds.empty()) points->kinds.erase(points->kinds.begin(), points->kinds.begin() + n);
}

// Adds the result of ExtremeFold to the columns of the only group, which contains all series.
void AddFolded(const std::optional<std::vector<PointColumns>>& folded,
               std::vector<const PointColumns*>* columns) {
  if (!folded) return;
  const PointColumns* const first = columns->empty() ? nullptr : columns->front();
  std::erase_if(*columns, [](const PointColumns* column) { return column->size() == 0; });
  for (const PointColumns& run : *folded) columns->push_back(&run);
  if (columns->empty() && first != nullptr) columns->push_back(first);
}

}  // namespace

// Charges the group with an estimate of its names' memory.
Status SubQueryRun::ChargeGroup(const SeriesGroup& group) const {
  size_t bytes = sizeof(Group);
  if (!group.members.empty()) {
    const Bytes& tsuid = group.members[0]->tsuid;
    bytes += group.members.size() * (sizeof(Bytes) + tsuid.size()) + NameBytes(tsuid);
  }
  for (const codec::Annotation* a : group.annotations)
    bytes += static_cast<size_t>(MemoryBytes(*a)) + sizeof(void*);
  RETURN_IF_ERROR(context_.watch.Step(kSeriesSteps * (1 + group.members.size())));
  return context_.watch.Charge(static_cast<int64_t>(bytes));
}

// Charges the bytes by which the names of the group exceed the estimate of ChargeGroup. Names are
// rarely that long, and the series of a group usually have the same keys.
Status SubQueryRun::ChargeLongNames(const Group& group) const {
  if (group.tsuids.empty()) return {};
  const size_t names = 1 + 2 * group.tags.size() + group.aggregate_tags.size();
  size_t bytes = names * sizeof(Bytes) + group.metric.size();
  for (const auto& [key, value] : group.tags) bytes += key.size() + value.size();
  for (const Bytes& key : group.aggregate_tags) bytes += key.size();
  const size_t estimate = NameBytes(group.tsuids[0]);
  return bytes > estimate ? context_.watch.Charge(static_cast<int64_t>(bytes - estimate))
                          : Status();
}

Status SubQueryRun::Evaluate() {
  for (Series& s : read_.series) {
    RETURN_IF_ERROR(NoteDeleted(s));
    RETURN_IF_ERROR(context_.watch.Step(kSeriesSteps + s.points.size()));
    if (sub_.text.rate) {
      RETURN_IF_ERROR(ApplyRate(sub_.text.rate_options.value_or(RateOptions()), &s.points));
    }
    DropBefore(plan_->window.begin_ms(), &s.points);
  }
  MemoryTally groups_memory(&context_.watch);
  ASSIGN_OR_RETURN(
      const std::vector<SeriesGroup> groups,
      FormGroups(plan_->layout(), read_.series, sub_.aggregator->function == Function::kNone,
                 plan_->filter->group_by(), plan_->window, &groups_memory));
  info_.stats.group_ns = Lap();

  const bool in_parts = groups.size() >= kGroupsInParts && context_.helper_count > 0;
  std::vector<GroupsPart> parts(in_parts ? kPartsPerThread * (context_.helper_count + 1) : 1);
  const auto make = [&](size_t i) {
    const size_t begin = groups.size() * i / parts.size();
    const size_t end = groups.size() * (i + 1) / parts.size();
    NameMemo own(context_.names, &context_.watch);
    parts[i].status = MakeGroups(std::span(groups).subspan(begin, end - begin),
                                 in_parts ? &own : &plan_->names, &parts[i]);
    return parts[i].status.ok();
  };
  // The parts are in the order of the groups, so the error of the first failed part is the first
  // error.
  if (in_parts) {
    RunSideBySide(&context_.helpers, context_.helper_count, parts.size(), make);
  } else {
    make(0);
  }
  if (parts.size() > 1) groups_.reserve(groups.size());
  for (GroupsPart& part : parts) {
    for (const Group& group : part.groups) {
      info_.stats.emitted_points += group.points.size();
      info_.stats.aggregate_ns += group.aggregate_ns;
      info_.stats.names_ns += group.names_ns;
    }
    if (parts.size() == 1) {
      groups_ = std::move(part.groups);
    } else {
      std::move(part.groups.begin(), part.groups.end(), std::back_inserter(groups_));
    }
    RETURN_IF_ERROR(part.status);
  }
  read_.Clear();
  return {};
}

Status SubQueryRun::MakeGroups(std::span<const SeriesGroup> groups, NameMemo* names,
                               GroupsPart* part) const {
  int64_t last_ns = context_.clock.MonotonicNs();
  const auto lap = [&] {
    const int64_t now_ns = context_.clock.MonotonicNs();
    return now_ns - std::exchange(last_ns, now_ns);
  };
  std::optional<int64_t> infinite_ms;
  MergeOptions merge;
  merge.infinite_ms = &infinite_ms;
  merge.watch = &context_.watch;
  merge.aggregator = sub_.aggregator;
  merge.rate = sub_.text.rate;
  merge.last_ms = plan_->window.end_ms();
  if (context_.trim) {
    merge.trim_begin_ms = context_.query.start_ms;
    merge.trim_end_ms = context_.query.end_ms;
  }
  part->groups.reserve(groups.size());
  std::vector<const PointColumns*> columns;
  for (const SeriesGroup& group : groups) {
    RETURN_IF_ERROR(ChargeGroup(group));
    Group out;
    out.query_index = index_;
    columns.clear();
    columns.reserve(group.members.size() + 1);
    for (const Series* s : group.members) columns.push_back(&s->points);
    // If rows were deleted during the query, a group may have no members.
    if (!group.members.empty()) AddFolded(read_.folded, &columns);
    Result<PointColumns> points = MergeSeries(merge, columns);
    const Status failed = points.status();
    if (infinite_ms && context_.on_failure == OnFailure::kLeaveWhatPrecedes) {
      merge.last_ms = *infinite_ms - 1;
      points = MergeSeries(merge, columns);
    }
    ASSIGN_OR_RETURN(out.points, std::move(points));
    out.aggregate_ns = lap();
    RETURN_IF_ERROR(Describe(plan_->layout(), group, names, &out));
    RETURN_IF_ERROR(ChargeLongNames(out));
    out.names_ns = lap();
    part->groups.push_back(std::move(out));
    RETURN_IF_ERROR(failed);
  }
  return {};
}

Status SubQueryRun::NoteDeleted(const Series& series) {
  if (!context_.query.request.delete_rows) return {};
  RETURN_IF_ERROR(plan_->memory.Add(static_cast<int64_t>(2 * sizeof(Bytes) + series.tsuid.size())));
  tsuids_.push_back(series.tsuid);
  return {};
}

Status SubQueryRun::EvaluateHistograms() {
  for (Series& s : read_.series) {
    RETURN_IF_ERROR(NoteDeleted(s));
    RETURN_IF_ERROR(context_.watch.Step(kSeriesSteps));
    if (!plan_->grid) continue;
    ASSIGN_OR_RETURN(s.histograms, Downsampled(s.histograms, *plan_->grid, &read_.memory));
  }
  MemoryTally groups_memory(&context_.watch);
  ASSIGN_OR_RETURN(
      const std::vector<SeriesGroup> groups,
      FormGroups(plan_->layout(), read_.series, sub_.aggregator->function == Function::kNone,
                 plan_->filter->group_by(), plan_->window, &groups_memory));
  info_.stats.group_ns = Lap();
  std::vector<const HistogramColumn*> columns;
  for (const SeriesGroup& group : groups) {
    RETURN_IF_ERROR(ChargeGroup(group));
    Group described;
    described.query_index = index_;
    RETURN_IF_ERROR(Describe(plan_->layout(), group, &plan_->names, &described));
    RETURN_IF_ERROR(ChargeLongNames(described));
    columns.clear();
    for (const Series* s : group.members) columns.push_back(&s->histograms);
    MemoryTally merged_memory(&context_.watch);
    ASSIGN_OR_RETURN(HistogramColumn merged, Merged(columns, &merged_memory));
    // The result shows the buckets of the first histogram that was read, even if its time is
    // outside the range.
    std::optional<codec::SimpleHistogram> shape;
    if (sub_.text.show_histogram_buckets && !merged.empty()) shape = merged.front().histogram;
    if (context_.trim) {
      std::erase_if(merged, [this](const TimedHistogram& h) {
        return h.time_ms < context_.query.start_ms || h.time_ms > context_.query.end_ms;
      });
    }
    ASSIGN_OR_RETURN(std::vector<HistogramOutput> outputs,
                     HistogramOutputs(merged, sub_.text.percentiles.value_or(std::vector<double>()),
                                      shape ? &*shape : nullptr, context_.watch));
    const size_t name_bytes = described.metric.size() + described.id.size();
    RETURN_IF_ERROR(context_.watch.Charge(static_cast<int64_t>(outputs.size() * name_bytes)));
    for (HistogramOutput& output : outputs) {
      Group out = described;
      out.metric += output.suffix;
      out.points = std::move(output.points);
      info_.stats.emitted_points += out.points.size();
      groups_.push_back(std::move(out));
    }
  }
  read_.Clear();
  info_.stats.aggregate_ns = Lap();
  return {};
}

}  // namespace hg::query
