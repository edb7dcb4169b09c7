#include "storage/codec/rollup.h"

#include <chrono>

#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg::codec {
namespace {

constexpr uint32_t kHour = 3600;

}  // namespace

uint32_t RollupIntervalsPerRow(uint32_t interval_s, RollupSpanUnit unit, uint32_t span_count) {
  const uint64_t span = unit == RollupSpanUnit::kHours    ? kHour
                        : unit == RollupSpanUnit::kDays   ? kDayS
                        : unit == RollupSpanUnit::kMonths ? 32 * kDayS
                                                          : 366 * kDayS;
  return static_cast<uint32_t>(span * span_count / interval_s);
}

uint32_t RollupBase(int64_t time_s, const RollupInterval& interval) {
  using namespace std::chrono;
  const sys_seconds time{seconds(time_s)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const auto seconds_of = [](sys_days d) {
    return static_cast<uint32_t>(sys_seconds(d).time_since_epoch().count());
  };
  switch (interval.unit) {
    case RollupSpanUnit::kHours:
      return static_cast<uint32_t>(time_s - time_s % (interval.span_count * kHour));
    case RollupSpanUnit::kDays:
      return seconds_of(day);
    case RollupSpanUnit::kMonths:
      return seconds_of(sys_days(date.year() / date.month() / 1));
    case RollupSpanUnit::kYears:
      return seconds_of(sys_days(date.year() / January / 1));
  }
  return 0;
}

Bytes RollupQualifier::Encode() const {
  Bytes out;
  AppendBig(&out, aggregator_id, 1);
  AppendBig(&out, static_cast<uint64_t>(index << 4 | flags), 2);
  return out;
}

Result<RollupQualifier> MakeRollupQualifier(uint8_t aggregator_id, int64_t time_s, uint8_t flags,
                                            const RollupInterval& interval) {
  const int64_t index = (time_s - RollupBase(time_s, interval)) / interval.interval_s;
  if (index < 0 || index >= interval.intervals_max || index > kRollupIndexMax) {
    return Status::InvalidArgument("rollup of time " + std::to_string(time_s) + " has index " +
                                   std::to_string(index) + " in its row of " +
                                   std::to_string(interval.intervals_max) + " intervals (at most " +
                                   std::to_string(kRollupIndexMax + 1) + ")");
  }
  return RollupQualifier{aggregator_id, static_cast<uint16_t>(index), flags};
}

Result<RollupQualifier> DecodeRollupQualifier(ByteView qualifier) {
  if (qualifier.size() != 3 || ByteAt(qualifier, 0) > 127) {
    return Status::Corruption("not a rollup qualifier: " + ToHexUpper(qualifier));
  }
  const uint16_t low = ReadBig16(qualifier.data() + 1);
  const auto flags = static_cast<uint8_t>(low & 0xF);
  if (!ValidPointFlags(flags)) {
    return Status::Corruption("rollup qualifier with flags that no value can have: " +
                              ToHexUpper(qualifier));
  }
  return RollupQualifier{ByteAt(qualifier, 0), static_cast<uint16_t>(low >> 4), flags};
}

std::optional<RollupQualifier> DecodeRollupQualifierOf(const RollupAggregate& aggregate,
                                                       ByteView qualifier) {
  Bytes with_id(qualifier);
  const size_t prefix = aggregate.name.size() + 1;
  if (qualifier.size() == prefix + 2 && qualifier.starts_with(aggregate.name) &&
      qualifier[prefix - 1] == ':') {
    with_id = static_cast<char>(aggregate.id) + Bytes(qualifier.substr(prefix));
  }
  const Result<RollupQualifier> decoded = DecodeRollupQualifier(with_id);
  if (!decoded.ok() || decoded->aggregator_id != aggregate.id) return {};
  return *decoded;
}

}  // namespace hg::codec
