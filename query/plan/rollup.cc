#include "query/plan/rollup.h"

#include <algorithm>
#include <optional>

#include "storage/model/letter_case.h"
#include "storage/model/timestamp.h"

namespace hg::query {
namespace {

enum class Usage : uint8_t { kRaw, kNoFallback, kFallback, kFallbackRaw };

Usage UsageOf(const std::optional<std::string>& text) {
  const std::string name = UpperCase(text.value_or(""));
  if (name == "ROLLUP_RAW") return Usage::kRaw;
  if (name == "ROLLUP_FALLBACK") return Usage::kFallback;
  if (name == "ROLLUP_FALLBACK_RAW") return Usage::kFallbackRaw;
  return Usage::kNoFallback;
}

std::string_view StoredFunction(std::string_view function) {
  if (function == "zimsum") return "sum";
  if (function == "mimmin") return "min";
  if (function == "mimmax") return "max";
  return function;
}

Status ReadIds(const codec::RollupTables& tables, std::string_view function, RollupPlan* plan) {
  const auto id_of = [&](std::string_view name, codec::RollupAggregate* aggregate) {
    const auto it = tables.aggregator_ids.find(name);
    if (it != tables.aggregator_ids.end()) *aggregate = {it->second, it->first};
    return it != tables.aggregator_ids.end();
  };
  const std::string_view stored = StoredFunction(function);
  plan->raw_function = FindAggregator(stored);
  plan->average = stored == "avg";
  const bool summed = plan->average || stored == "count";
  plan->function = summed ? FindAggregator("sum") : plan->raw_function;
  const bool known = plan->average ? id_of("sum", &plan->stored) && id_of("count", &plan->count)
                                   : stored != "dev" && id_of(stored, &plan->stored);
  if (known) return {};
  return Status::InvalidArgument("No ID found mapping to aggregator: " + std::string(function));
}

}  // namespace

std::string_view RollupUsageName(const std::string& text) {
  switch (UsageOf(text)) {
    case Usage::kRaw:
      return "ROLLUP_RAW";
    case Usage::kFallback:
      return "ROLLUP_FALLBACK";
    case Usage::kFallbackRaw:
      return "ROLLUP_FALLBACK_RAW";
    case Usage::kNoFallback:
      break;
  }
  return "ROLLUP_NOFALLBACK";
}

Result<RollupPlan> PlanRollup(const codec::RollupTables& tables, const SubQuery& text,
                              const DownsampleSpec* downsample) {
  RollupPlan plan;
  const Usage usage = UsageOf(text.rollup_usage);
  if (usage == Usage::kRaw || downsample == nullptr || downsample->run_all) return plan;
  const int64_t interval_s = downsample->interval_ms() / 1000;
  if (interval_s == 0) return Status::Unsupported("Interval cannot be null or empty");
  for (const codec::RollupLevel& level : tables.levels)
    if (interval_s % level.interval.interval_s == 0) plan.levels.push_back(&level);
  std::sort(plan.levels.begin(), plan.levels.end(), [](const auto* a, const auto* b) {
    return a->interval.interval_s > b->interval.interval_s;
  });
  const auto is_default = [](const codec::RollupLevel* level) { return level->is_default; };
  plan.levels.erase(std::find_if(plan.levels.begin(), plan.levels.end(), is_default),
                    plan.levels.end());
  if (plan.levels.empty()) return plan;
  if (usage != Usage::kFallback) plan.levels.resize(1);
  plan.then_raw = usage != Usage::kNoFallback;
  RETURN_IF_ERROR(ReadIds(tables, downsample->function->name, &plan));
  return plan;
}

bool AsksForPreAggregates(const SubQuery& text, std::string_view aggregate_key,
                          std::string_view raw_value) {
  return text.pre_aggregate ||
         std::any_of(text.filters.begin(), text.filters.end(), [&](const FilterSpec& filter) {
           return filter.type == "literal_or" && filter.tagk == aggregate_key &&
                  filter.filter != raw_value;
         });
}

ScanWindow PlanRollupScan(int64_t start_ms, int64_t end_ms, bool rate,
                          const codec::RollupInterval& interval) {
  const int64_t start_s = Timestamp{start_ms}.is_millis() ? start_ms / 1000 : start_ms;
  const int64_t end_s = Timestamp{end_ms}.is_millis() ? end_ms / 1000 + 1 : end_ms;
  ScanWindow window;
  window.begin_s = codec::RollupBase(start_s, interval);
  if (rate && window.begin_s > 0) window.begin_s = codec::RollupBase(window.begin_s - 1, interval);
  window.end_s =
      codec::RollupBase(end_s + int64_t{interval.interval_s} * interval.intervals_max, interval);
  return window;
}

}  // namespace hg::query
