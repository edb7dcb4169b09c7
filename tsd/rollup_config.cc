#include "tsd/rollup_config.h"

#include <rapidjson/document.h>

#include <charconv>
#include <set>

#include "query/buckets/aggregator.h"
#include "query/time/duration.h"
#include "storage/model/letter_case.h"

namespace hg::tsd {
namespace {

using codec::RollupSpanUnit;

constexpr uint32_t kIntervalsMin = 12;
constexpr uint32_t kIntervalsMax = 7774;

Status Wrong(const std::string& what) {
  return Status::InvalidArgument("tsd.rollups.config: " + what);
}

std::string TextOf(const rapidjson::Value& object, const char* field) {
  const auto it = object.FindMember(field);
  if (it == object.MemberEnd() || !it->value.IsString()) return {};
  return {it->value.GetString(), it->value.GetStringLength()};
}

Status ReadIds(const rapidjson::Value& ids, codec::RollupTables* out) {
  if (!ids.IsObject() || ids.ObjectEmpty())
    return Wrong("\"aggregationIds\" must be an object of names and ids");
  std::set<int> seen;
  for (const auto& member : ids.GetObject()) {
    const std::string name = LowerCase({member.name.GetString(), member.name.GetStringLength()});
    if (query::FindAggregator(name) == nullptr) return Wrong("no such aggregator: " + name);
    if (!member.value.IsInt() || member.value.GetInt() < 0 || member.value.GetInt() > 127)
      return Wrong("the id of \"" + name + "\" must be 0…127");
    if (!seen.insert(member.value.GetInt()).second)
      return Wrong("the id of \"" + name + "\" is given twice");
    out->aggregator_ids[name] = static_cast<uint8_t>(member.value.GetInt());
  }
  return {};
}

Status ReadSpan(const std::string& text, codec::RollupInterval* interval) {
  uint32_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count == 0 || stop + 1 != text.data() + text.size())
    return Wrong("rowSpan \"" + text + "\" is not a number with a unit");
  switch (*stop) {
    case 'h':
      interval->unit = RollupSpanUnit::kHours;
      break;
    case 'd':
      interval->unit = RollupSpanUnit::kDays;
      break;
    case 'n':
      interval->unit = RollupSpanUnit::kMonths;
      break;
    case 'y':
      interval->unit = RollupSpanUnit::kYears;
      break;
    default:
      return Wrong("rowSpan \"" + text + "\" must have the unit h, d, n or y");
  }
  if (count > 1 && (interval->unit != RollupSpanUnit::kHours || count % 2 != 0))
    return Wrong("rowSpan \"" + text + "\": a number above 1 must be even and have the unit h");
  interval->span_count = count;
  return {};
}

Status ReadLevel(const rapidjson::Value& value, codec::RollupTables* out) {
  if (!value.IsObject()) return Wrong("an interval must be an object");
  codec::RollupLevel level;
  level.name = TextOf(value, "interval");
  level.table = TextOf(value, "table");
  level.pre_aggregate_table = TextOf(value, "preAggregationTable");
  if (level.table.empty() || level.pre_aggregate_table.empty())
    return Wrong("interval \"" + level.name + "\" needs a table and a preAggregationTable");
  if (out->Find(level.name) != nullptr)
    return Wrong("interval \"" + level.name + "\" is given twice");
  const Result<query::Duration> interval = query::ParseDuration(level.name);
  if (!interval.ok() || interval->millis() < 1000)
    return Wrong("interval \"" + level.name + "\" is not a duration of at least a second");
  level.interval.interval_s = static_cast<uint32_t>(interval->millis() / 1000);
  const std::string span = TextOf(value, "rowSpan");
  RETURN_IF_ERROR(ReadSpan(span, &level.interval));
  level.interval.intervals_max = codec::RollupIntervalsPerRow(
      level.interval.interval_s, level.interval.unit, level.interval.span_count);
  if (level.interval.intervals_max < kIntervalsMin || level.interval.intervals_max > kIntervalsMax)
    return Wrong("interval \"" + level.name + "\": a row of " + span + " contains " +
                 std::to_string(level.interval.intervals_max) + " intervals (expected 12 to 7774)");
  if (const std::string delay = TextOf(value, "delaySla"); !delay.empty()) {
    const Result<query::Duration> sla = query::ParseDuration(delay);
    if (!sla.ok())
      return Wrong("interval \"" + level.name + "\": delaySla \"" + delay + "\" is no duration");
    level.delay_s = sla->millis() / 1000;
  }
  const auto is_default = value.FindMember("defaultInterval");
  level.is_default = is_default != value.MemberEnd() && is_default->value.IsTrue();
  out->levels.push_back(std::move(level));
  return {};
}

}  // namespace

Result<codec::RollupTables> ParseRollupConfig(std::string_view json) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError() || !document.IsObject()) return Wrong("is not a JSON object");
  const rapidjson::Value& object = document;
  codec::RollupTables out;
  const auto ids = object.FindMember("aggregationIds");
  if (ids == object.MemberEnd()) return Wrong("\"aggregationIds\" is missing");
  RETURN_IF_ERROR(ReadIds(ids->value, &out));
  const auto intervals = object.FindMember("intervals");
  if (intervals == object.MemberEnd() || !intervals->value.IsArray())
    return Wrong("\"intervals\" must be a list");
  int defaults = 0;
  for (const auto& value : intervals->value.GetArray()) {
    RETURN_IF_ERROR(ReadLevel(value, &out));
    defaults += out.levels.back().is_default ? 1 : 0;
  }
  if (defaults != 1) return Wrong("exactly one interval must be the defaultInterval");
  return out;
}

}  // namespace hg::tsd
