#include "tsd/retention/retention.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "query/plan/filter.h"
#include "query/series/choose_series.h"
#include "query/series/name_memo.h"
#include "query/series/series_filter.h"
#include "storage/base/survive.h"
#include "tsd/log.h"

namespace hg::tsd {

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
  const auto failed = [&](const std::string& metric, Status status) {
    if (watch_.stopped) return;
    ++failures_;
    LogWarning("retention", "old points could not be deleted; the next round tries again",
               {{"metric", metric}, LogField(status)});
    if (first.ok()) first = std::move(status);
  };
  // Whole files are deleted first, so that the rows in them need not be read and deleted one by
  // one.
  if (Status dropped = Survive([this] { return DropFiles(); }); !dropped.ok())
    failed("*", Prepend(dropped, "delete of whole files"));
  for (const RetentionRule& rule : options_.rules) {
    const auto metrics = Survive([&] { return MetricsOf(rule); });
    if (!metrics.ok()) {
      failed(rule.metric + "*",
             Prepend(metrics.status(), "metrics that begin with '" + rule.metric + "'"));
      continue;
    }
    for (const std::string& metric : *metrics) {
      RETURN_IF_ERROR(watch_.Step(1));
      const Status status = Survive([&] { return DeleteOld(rule, metric); });
      if (!status.ok()) failed(metric, Prepend(status, "metric '" + metric + "'"));
    }
  }
  RETURN_IF_ERROR(watch_.Step(1));
  ++rounds_;
  return first;
}

Result<std::vector<std::string>> Retention::MetricsOf(const RetentionRule& rule) {
  if (!rule.begins) return std::vector<std::string>{rule.metric};
  std::vector<std::string> metrics;
  MemoryTally memory(&watch_);
  const auto collect = [&](std::string name) -> Result<bool> {
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(3 * sizeof(std::string) + name.size())));
    metrics.push_back(std::move(name));
    return true;
  };
  RETURN_IF_ERROR(names_.ForEach(UidKind::kMetric, rule.metric, &watch_, collect));
  return metrics;
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

// Returns retention times by metric id. They come from rules without tags, which apply to all
// series of a metric, including future ones.
std::map<Bytes, int64_t, std::less<>> Retention::ShortestKeeps() {
  std::map<Bytes, int64_t, std::less<>> keeps;
  for (const RetentionRule& rule : options_.rules) {
    if (!rule.filters.empty()) continue;
    const auto metrics = MetricsOf(rule);
    if (!metrics.ok()) continue;
    for (const std::string& metric : *metrics) {
      Result<Bytes> id = names_.Find(UidKind::kMetric, metric);
      if (!id.ok()) continue;
      const auto [kept, is_new] = keeps.try_emplace(std::move(*id), rule.keep_ms);
      kept->second = std::min(kept->second, rule.keep_ms);
    }
  }
  return keeps;
}

// Deletes whole files. If the lookup of a metric fails, its files stay. DeleteOld then reports the
// failure.
Status Retention::DropFiles() {
  std::optional<std::map<Bytes, int64_t, std::less<>>>
      keeps;  // computed when the first file is examined
  const auto end_of = [&](ByteView metric) -> Result<uint32_t> {
    RETURN_IF_ERROR(watch_.Step(1));
    if (!keeps) keeps = ShortestKeeps();
    const auto kept = keeps->find(metric);
    if (kept == keeps->end()) return 0U;
    return EndOf(kept->first, kept->second);
  };
  return points_.DropFiles([&](ByteView metric) {
    const auto end = Survive([&] { return end_of(metric); });
    return end.ok() ? *end : 0U;
  });
}

Status Retention::DeleteOld(const RetentionRule& rule, const std::string& metric) {
  query::NameMemo names(names_, &watch_);
  PointScanSpec spec;
  spec.watch = &watch_;

  Result<Bytes> id = names.Find(UidKind::kMetric, metric);
  // A metric or tag that does not exist has no points.
  const auto unless_unknown = [](const Status& status) {
    return status.code() == StatusCode::kNotFound ? Status() : status;
  };
  if (!id.ok()) return unless_unknown(id.status());
  spec.metric = std::move(*id);
  ASSIGN_OR_RETURN(spec.rows.end, EndOf(spec.metric, rule.keep_ms));
  if (spec.rows.end == 0) return {};

  query::ValidSubQuery wanted;
  wanted.text.metric = metric;
  wanted.text.filters = rule.filters;
  for (const query::FilterSpec& filter : rule.filters) {
    ASSIGN_OR_RETURN(auto compiled, query::TagFilter::Compile(filter));
    wanted.filters.push_back(std::move(compiled));
  }
  auto filter = query::SeriesFilter::Resolve(wanted, options_.query, points_.layout(), &names);
  if (!filter.ok()) return unless_unknown(filter.status());
  spec.matcher = filter->matcher();
  MemoryTally memory(&watch_);
  if (filter->decides()) {
    ASSIGN_OR_RETURN(spec.matcher, query::ChooseSeries(points_, spec.metric, &*filter, &memory));
    if (spec.matcher.tsuids.empty()) return {};  // an empty list would select all series
  }
  return points_.DeleteRows(spec);
}

}  // namespace hg::tsd
