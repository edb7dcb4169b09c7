#pragma once
// Cells of rollup tables: value of one aggregate over one interval (spec schema.md §13.3, §13.4).
//
//   qualifier  aggregator id u8 ‖ (index << 4 | flags) u16       index = (time − base) / interval

#include <cstdint>
#include <optional>
#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::codec {

/// Unit of a rollup table's row.
enum class RollupSpanUnit : unsigned char { kHours, kDays, kMonths, kYears };

/// One interval of the configuration, already checked (interval ≥ 1 s, ≤ 7774 intervals in a row).
struct RollupInterval {
  uint32_t interval_s = 0;
  RollupSpanUnit unit = RollupSpanUnit::kHours;
  uint32_t span_count = 1;     // of units; more than 1 only with hours
  uint32_t intervals_max = 0;  // in one row
};

/// Intervals in the longest row of the span: 3600 s, a day, 32 days or 366 days, times span_count.
uint32_t RollupIntervalsPerRow(uint32_t interval_s, RollupSpanUnit unit, uint32_t span_count);

/// Start of the row that holds a time in seconds: of the hours, the day, the month or the year,
/// UTC.
uint32_t RollupBase(int64_t time_s, const RollupInterval& interval);

struct RollupQualifier {
  uint8_t aggregator_id = 0;  // 0…127
  uint16_t index = 0;         // interval in the row
  uint8_t flags = 0;          // as of a point

  [[nodiscard]] Bytes Encode() const;
  bool operator==(const RollupQualifier&) const = default;
};

/// Indexes from here on read as a millisecond qualifier; OpenTSDB writes such cells wrongly, we
/// refuse (§13.4, §22).
inline constexpr uint32_t kRollupIndexMax = 3839;

/// InvalidArgument: the time lies outside of the row, or its index above kRollupIndexMax.
Result<RollupQualifier> MakeRollupQualifier(uint8_t aggregator_id, int64_t time_s, uint8_t flags,
                                            const RollupInterval& interval);

/// Corruption: not three bytes, id above 127, or flags no value can have.
Result<RollupQualifier> DecodeRollupQualifier(ByteView qualifier);

/// An aggregator as cells name it.
struct RollupAggregate {
  uint8_t id = 0;
  std::string name;  // lower case
};

/// The qualifier of one aggregator's cell: its id in front, or its name and a colon, as an older
/// form of OpenTSDB's had it ("sum:", §13.4); the id is told in either case. None: another
/// aggregator's, or no rollup at all.
std::optional<RollupQualifier> DecodeRollupQualifierOf(const RollupAggregate& aggregate,
                                                       ByteView qualifier);

}  // namespace hg::codec
