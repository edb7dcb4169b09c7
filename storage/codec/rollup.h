#pragma once
// Cells of rollup tables. Each cell holds the value of one aggregate over one interval
// (opentsdb-schema.md §13.3, §13.4).
//
//   qualifier  aggregator id u8 ‖ (index << 4 | flags) u16       index = (time − base) / interval

#include <cstdint>
#include <optional>
#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::codec {

/// The unit of the time span of one row.
enum class RollupSpanUnit : unsigned char { kHours, kDays, kMonths, kYears };

/// One configured rollup interval. The values are already validated: the interval is at least 1 s,
/// and one row holds at most 7774 intervals.
struct RollupInterval {
  uint32_t interval_s = 0;
  RollupSpanUnit unit = RollupSpanUnit::kHours;
  uint32_t span_count = 1;     // number of units that one row covers; above 1 only for hours
  uint32_t intervals_max = 0;  // maximum number of intervals in one row
};

/// Returns the maximum number of intervals in one row. This is the number of intervals that fit
/// into one hour, a day, 32 days or 366 days (depending on `unit`), times span_count.
uint32_t RollupIntervalsPerRow(uint32_t interval_s, RollupSpanUnit unit, uint32_t span_count);

/// Returns the start (in seconds, UTC) of the rollup row that contains `time_s`. This is the start
/// of the hours, the day, the month or the year that the row covers.
uint32_t RollupBase(int64_t time_s, const RollupInterval& interval);

struct RollupQualifier {
  uint8_t aggregator_id = 0;  // 0…127
  uint16_t index = 0;         // number of the interval in the row, from 0
  uint8_t flags = 0;          // flags of the value, as in the qualifier of a point

  [[nodiscard]] Bytes Encode() const;
  bool operator==(const RollupQualifier&) const = default;
};

/// Maximum index in a rollup qualifier. Readers would interpret a larger index as a millisecond
/// qualifier. OpenTSDB writes cells with larger indexes incorrectly; Hourglass rejects their values
/// (opentsdb-schema.md §13.4, §22).
inline constexpr uint32_t kRollupIndexMax = 3839;

/// Makes the rollup qualifier for a time. Returns InvalidArgument if the time is outside the row,
/// or if its index is above kRollupIndexMax.
Result<RollupQualifier> MakeRollupQualifier(uint8_t aggregator_id, int64_t time_s, uint8_t flags,
                                            const RollupInterval& interval);

/// Decodes a rollup qualifier. Returns Corruption if the qualifier does not have three bytes, the
/// aggregator id is above 127, or the flags are invalid.
Result<RollupQualifier> DecodeRollupQualifier(ByteView qualifier);

/// An aggregator in the qualifiers of rollup cells: its id and its name.
struct RollupAggregate {
  uint8_t id = 0;
  std::string name;  // name of the aggregator in lower case
};

/// Decodes the qualifier of a rollup cell of one aggregator. The qualifier begins with the id of
/// the aggregator, or with its name and a colon ("sum:"), which older versions of OpenTSDB wrote
/// (opentsdb-schema.md §13.4). The result has the id in both cases. Returns nullopt if the cell
/// belongs to another aggregator or is not a rollup cell.
std::optional<RollupQualifier> DecodeRollupQualifierOf(const RollupAggregate& aggregate,
                                                       ByteView qualifier);

}  // namespace hg::codec
