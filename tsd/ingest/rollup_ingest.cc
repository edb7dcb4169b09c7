#include "tsd/ingest/rollup_ingest.h"

#include <vector>

#include "query/buckets/aggregator.h"
#include "storage/codec/row_key.h"
#include "storage/model/letter_case.h"

namespace hg::tsd {

namespace {

/// Returns whether values of this aggregate, such as averages, cannot be aggregated further.
bool IsDerived(std::string_view aggregator) {
  const std::string name = LowerCase(aggregator);
  return name == "avg" || name == "dev";
}

Status CheckGroupBy(const NamedRollup& rollup, std::string_view tags, bool block_derived) {
  const std::string about =
      std::string(rollup.group_by) + " with metric " + std::string(rollup.metric) + " ";
  if (query::FindAggregator(LowerCase(rollup.group_by)) == nullptr)
    return Status::InvalidArgument("Invalid group by aggregator " + about + std::string(tags));
  if (block_derived && IsDerived(rollup.group_by)) {
    return Status::InvalidArgument("Derived group by aggregations are not allowed " + about +
                                   std::string(tags));
  }
  return {};
}

Status DerivedRollup(const NamedRollup& rollup) {
  return Status::InvalidArgument("Derived rollup aggregations are not allowed " +
                                 UpperCase(rollup.aggregator) + " with metric " +
                                 std::string(rollup.metric) + " " + TagsText(rollup.tags));
}

/// Checks that a pre-aggregate names its function.
Status CheckGroupByGiven(const NamedRollup& rollup) {
  if (!rollup.group_by_given || !rollup.group_by.empty()) return {};
  return Status::InvalidArgument(
      "Cannot write a group by data point without specifying the aggregation function. Metric=" +
      std::string(rollup.metric) + " tags=" + TagsText(rollup.tags));
}

// Returns OpenTSDB's error for an unknown interval. OpenTSDB reports this error when it stores the
// value, so the code is not InvalidArgument.
Status NoInterval() {
  return Status::Corruption("Interval cannot be null for a non-group by point");
}

}  // namespace

Result<uint8_t> RollupIngest::IdOf(std::string_view aggregator) const {
  if (aggregator.empty()) return Status::InvalidArgument("Aggregator cannot be null or empty.");
  const auto id = options_.tables.aggregator_ids.find(LowerCase(aggregator));
  if (id != options_.tables.aggregator_ids.end()) return id->second;
  return Status::InvalidArgument("No ID found mapping to aggregator: " + std::string(aggregator));
}

Status RollupIngest::CheckAggregateTag(const NamedRollup& rollup) const {
  const std::string expected = AggregateTagValue(*this, rollup.group_by, rollup.time);
  for (const TagText& tag : rollup.tags) {
    if (tag.key != options_.aggregate_key || tag.value == expected) continue;
    return Status::InvalidArgument(
        "Given tag value for " + options_.aggregate_key + " of " + std::string(tag.value) +
        " did not match the group by aggregator of " +
        (rollup.group_by.empty() ? "null" : std::string(rollup.group_by)) + " for " +
        std::string(rollup.metric) + " " + TagsText(rollup.tags));
  }
  return {};
}

Result<RollupIngest::Place> RollupIngest::Find(const NamedRollup& rollup) const {
  const bool grouped = !rollup.group_by.empty();
  const int64_t time_s = rollup.time.raw;
  Place place;
  const bool blocked = options_.block_derived && IsDerived(rollup.aggregator);
  if (grouped && rollup.interval.empty()) {
    if (blocked) return DerivedRollup(rollup);
    place.table = options_.tables.Default().pre_aggregate_table;
    const int64_t offset = time_s % kRowSpan;
    place.base = static_cast<uint32_t>(time_s - offset);
    AppendBig(&place.qualifier, static_cast<uint64_t>(offset << 4 | rollup.value.flags), 2);
    return place;
  }
  if (rollup.interval.empty()) return NoInterval();
  const codec::RollupLevel* level = options_.tables.Find(rollup.interval);
  if (level == nullptr) {
    return Status::Unsupported("No rollups configured for the interval: " +
                               std::string(rollup.interval));
  }
  ASSIGN_OR_RETURN(const uint8_t id, IdOf(rollup.aggregator));
  if (blocked) return DerivedRollup(rollup);
  if (options_.automatic && !grouped) {
    return Status::InvalidArgument("Rollups of interval " + std::string(rollup.interval) +
                                   " are computed by the daemon "
                                   "(tsd.rollups.automatic), so clients cannot write them");
  }
  ASSIGN_OR_RETURN(const codec::RollupQualifier qualifier,
                   codec::MakeRollupQualifier(id, time_s, rollup.value.flags, level->interval));
  place.table = grouped ? level->pre_aggregate_table : level->table;
  place.base = codec::RollupBase(time_s, level->interval);
  place.qualifier = qualifier.Encode();
  return place;
}

Status RollupIngest::Put(const NamedRollup& rollup, WriteContext& context) {
  RETURN_IF_ERROR(CheckGroupByGiven(rollup));
  NamedPoint point;
  point.metric = rollup.metric;
  point.tags = rollup.tags;
  point.time = rollup.time;
  Bytes value;
  AppendBig(&value, rollup.value.bits, ValueWidth(rollup.value.flags));
  if (point.time.is_millis() || !point.time.in_range())
    return BadTimestamp(point, value, rollup.value.flags);
  RETURN_IF_ERROR(CheckAggregateTag(rollup));
  if (!rollup.group_by.empty())
    RETURN_IF_ERROR(CheckGroupBy(rollup, TagsText(rollup.tags), options_.block_derived));
  RETURN_IF_ERROR(ingest_.CheckNames(point));
  ASSIGN_OR_RETURN(Place place, Find(rollup));
  ASSIGN_OR_RETURN(const Bytes tsuid, ingest_.ResolveTsuid(point, context));
  RowMutation row;
  row.key = codec::MakeRowKey(layout_, tsuid, place.base);
  row.changes.push_back(PutCell("t", std::move(place.qualifier), std::move(value)));
  RETURN_IF_ERROR(store_.Mutate(place.table, {row}));
  ingest_.ChargeValue(rollup.metric, tsuid, context);
  return {};
}

Status NoRollups::Put(const NamedRollup& rollup, WriteContext& /*context*/) {
  if (!rollup.interval.empty())
    return Status::InvalidArgument("No rollup or aggregations were configured");
  RETURN_IF_ERROR(CheckGroupByGiven(rollup));
  std::vector<TagText> shown(rollup.tags.begin(), rollup.tags.end());
  for (TagText& tag : shown)
    if (tag.key.empty()) tag.key = "null";
  NamedPoint point;
  point.metric = rollup.metric;
  point.tags = shown;
  point.time = rollup.time;
  if (point.time.is_millis() || !point.time.in_range()) {
    Bytes value;
    AppendBig(&value, rollup.value.bits, ValueWidth(rollup.value.flags));
    return BadTimestamp(point, value, rollup.value.flags);
  }
  if (!rollup.group_by.empty()) RETURN_IF_ERROR(CheckGroupBy(rollup, TagsText(shown), false));
  RETURN_IF_ERROR(ingest_.CheckNames(point));
  if (rollup.group_by.empty()) return NoInterval();
  return Status::InvalidArgument("Invalid tag name with value [" + UpperCase(rollup.group_by) +
                                 "]: null");
}

}  // namespace hg::tsd
