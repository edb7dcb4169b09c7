#include "tsd/retention/retention.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string_view>

#include "query/plan/filter.h"
#include "query/series/name_memo.h"
#include "storage/base/survive.h"
#include "storage/model/name_text.h"
#include "tsd/log.h"

namespace hg::tsd {
namespace {

/// Returns whether a rule applies to the metric with this name. Names are compared as they are
/// stored, because a name from the store has lost its characters beyond ISO-8859-1.
bool Applies(const RetentionRule& rule, std::string_view name) {
  const Bytes stored = ToLatin1(name), wanted = ToLatin1(rule.metric);
  if (!rule.begins) return stored == wanted;
  // An empty prefix has the same meaning as for uid::Names::ForEach.
  return wanted.empty() ? stored >= "!" && stored < "~" : stored.starts_with(wanted);
}

}  // namespace

void Retention::Start() {
  worker_ = std::thread([this] { Work(); });
}

void Retention::Stop() {
  {
    const std::lock_guard lock(mutex_);
    watch_.stopped = true;
    stop_.notify_all();
  }
  if (worker_.joinable()) worker_.join();
}

void Retention::Work() {
  std::unique_lock lock(mutex_);
  while (!watch_.stopped) {
    lock.unlock();
    (void)Survive([this] { return Round(); });  // Round logs its failures
    lock.lock();
    stop_.wait_for(lock, std::chrono::seconds(options_.interval_s),
                   [this] { return watch_.stopped.load(); });
  }
}

Status Retention::Round() {
  Status first;
  const auto failed = [&](const std::string& metric, const Status& status) {
    if (watch_.stopped) return;
    ++failures_;
    LogWarning("retention", "old points could not be deleted; the next round tries again",
               {{"metric", metric}, LogField(status)});
    if (first.ok()) first = status;
  };
  // Whole files are deleted first, so that the rows in them need not be read and deleted one by
  // one.
  if (Status dropped = Survive([this] { return DropFiles(); }); !dropped.ok())
    failed("*", Prepend(dropped, "delete of whole files"));
  const auto width = static_cast<size_t>(points_.layout().metric_width);
  for (const RetentionRule& rule : options_.rules) {
    Bytes metrics;  // ids, one after the other; the names of all metrics would take much memory
    const Status found = Survive([&] {
      return ForEachMetric(rule, [&](const std::string& name) -> Status {
        const Result<Bytes> id = names_.Find(UidKind::kMetric, name, &watch_);
        if (id.ok()) {
          metrics += *id;
        } else if (id.status().code() != StatusCode::kNotFound) {
          failed(name, Prepend(id.status(), "metric '" + name + "'"));
        }
        return watch_.Step(1);
      });
    });
    if (!found.ok()) {
      const std::string shown = rule.metric + (rule.begins ? "*" : "");
      failed(shown, Prepend(found, "metrics of the rule for '" + shown + "'"));
    }
    for (size_t at = 0; at < metrics.size(); at += width) {
      RETURN_IF_ERROR(watch_.Step(1));
      const Bytes metric = metrics.substr(at, width);
      const Status status = Survive([&] { return DeleteOld(rule, metric); });
      if (status.ok()) continue;
      const Result<std::string> name =
          Survive([&] { return names_.NameOf(UidKind::kMetric, metric); });
      const std::string shown = name.ok() ? *name : ToHexUpper(metric);
      failed(shown, Prepend(status, "metric '" + shown + "'"));
    }
  }
  RETURN_IF_ERROR(watch_.Step(1));
  ++rounds_;
  return first;
}

// Calls `visit` with the name of each metric to which the rule may apply.
Status Retention::ForEachMetric(const RetentionRule& rule,
                                const std::function<Status(const std::string& name)>& visit) {
  if (!rule.begins) return visit(rule.metric);
  return names_.ForEach(UidKind::kMetric, rule.metric, &watch_,
                        [&](const std::string& name) -> Result<bool> {
                          // Another daemon may have renamed the metric. This daemon then knows the
                          // metric by its old name.
                          if (Applies(rule, name)) RETURN_IF_ERROR(visit(name));
                          return true;
                        });
}

// Returns the time before which rows of the metric may be deleted with this retention time. 0 means
// that no rows may be deleted.
Result<uint32_t> Retention::EndOf(const Bytes& metric, int64_t keep_ms) const {
  const int64_t oldest_s = std::clamp<int64_t>((clock_.NowMs() - keep_ms) / 1000, 0,
                                               std::numeric_limits<uint32_t>::max());
  // The hour that contains the limit still has points that must be kept.
  const auto end_s = static_cast<uint32_t>(oldest_s - oldest_s % kRowSpan);
  if (end_s == 0 || !options_.may_delete) return end_s;
  return options_.may_delete(metric, end_s);
}

// Returns the shortest retention time of the rules without tags, which apply to all series of a
// metric, including future ones. nullopt: no rule without tags applies to the metric.
Result<std::optional<int64_t>> Retention::ShortestKeep(ByteView metric) {
  ASSIGN_OR_RETURN(const std::string name, names_.NameOf(UidKind::kMetric, metric, &watch_));
  std::optional<int64_t> keep_ms;
  for (const RetentionRule& rule : options_.rules) {
    if (rule.filters.empty() && Applies(rule, name))
      keep_ms = std::min(keep_ms.value_or(rule.keep_ms), rule.keep_ms);
  }
  return keep_ms;
}

// Deletes whole files. If the lookup of a metric fails, its files stay.
Status Retention::DropFiles() {
  const auto end_of = [&](ByteView metric) -> Result<uint32_t> {
    RETURN_IF_ERROR(watch_.Step(1));
    ASSIGN_OR_RETURN(const std::optional<int64_t> keep_ms, ShortestKeep(metric));
    return keep_ms ? EndOf(Bytes(metric), *keep_ms) : 0U;
  };
  return points_.DropFiles([&](ByteView metric) {
    const auto end = Survive([&] { return end_of(metric); });
    return end.ok() ? *end : 0U;
  });
}

Status Retention::DeleteOld(const RetentionRule& rule, const Bytes& metric) {
  PointScanSpec spec;
  spec.watch = &watch_;
  spec.metric = metric;
  ASSIGN_OR_RETURN(spec.rows.end, EndOf(metric, rule.keep_ms));
  if (spec.rows.end == 0) return {};

  query::NameMemo names(names_, &watch_);
  query::ValidSubQuery wanted;
  wanted.text.filters = rule.filters;
  for (const query::FilterSpec& filter : rule.filters) {
    ASSIGN_OR_RETURN(auto compiled, query::TagFilter::Compile(filter));
    wanted.filters.push_back(std::move(compiled));
  }
  const auto filter =
      query::SeriesFilter::Resolve(wanted, options_.query, points_.layout(), &names);
  // A tag that does not exist has no points.
  if (filter.status().code() == StatusCode::kNotFound) return {};
  RETURN_IF_ERROR(filter.status());
  spec.matcher = filter->matcher();
  return filter->decides() ? DeleteChosen(*filter, &spec) : points_.DeleteRows(spec);
}

// Deletes the rows of the series that the filter accepts. The TSUIDs of all series of a large
// metric and the names of their tag values would take much memory, so the rows of each batch of
// series are deleted during the listing. A store without an index of series reads the whole metric
// for each batch, so it deletes the rows of all series together.
Status Retention::DeleteChosen(const query::SeriesFilter& filter, PointScanSpec* spec) {
  const size_t series_at_once = points_.ListsFromIndex() ? size_t{65536} : SIZE_MAX;
  size_t listed = 0;
  std::optional<query::NameMemo> names;
  std::optional<query::SeriesFilter> of_batch;
  spec->matcher = {};
  const auto delete_batch = [&]() -> Status {
    listed = 0;
    if (spec->matcher.tsuids.empty()) return {};  // an empty list would select all series
    RETURN_IF_ERROR(points_.DeleteRows(*spec));
    spec->matcher.tsuids.clear();
    return {};
  };
  const auto take = [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(watch_.Step(1));
    if (listed == 0) of_batch = filter.With(&names.emplace(names_, &watch_));
    ASSIGN_OR_RETURN(const bool admitted, of_batch->Admits(tsuid));
    if (admitted) spec->matcher.tsuids.emplace_back(tsuid);
    return ++listed == series_at_once ? delete_batch() : Status();
  };
  Status failed;
  RETURN_IF_ERROR(points_.ListSeries(spec->metric, filter.matcher(), &watch_, [&](ByteView tsuid) {
    failed = take(tsuid);
    return failed.ok();
  }));
  RETURN_IF_ERROR(failed);
  return delete_batch();
}

}  // namespace hg::tsd
