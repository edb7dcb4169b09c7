#pragma once
// Cells of rollup tables: the value of one aggregate over one interval (opentsdb-schema.md §13.3,
// §13.4).
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

/// One configured interval. The values are already validated: interval ≥ 1 s, at most 7774
/// intervals per row.
struct RollupInterval {
  uint32_t interval_s = 0;
  RollupSpanUnit unit = RollupSpanUnit::kHours;
  uint32_t span_count = 1;     // number of units in a row; above 1 only for hours
  uint32_t intervals_max = 0;  // intervals in one row
};

/// Returns the maximum number of intervals in one row: the number that fits into one hour, a day,
/// 32 days or 366 days (depending on `unit`), times span_count.
uint32_t RollupIntervalsPerRow(uint32_t interval_s, RollupSpanUnit unit, uint32_t span_count);

/// Returns the start (in seconds, UTC) of the row that contains `time_s`: the start of its hours,
/// day, month or year.
uint32_t RollupBase(int64_t time_s, const RollupInterval& interval);

struct RollupQualifier {
  uint8_t aggregator_id = 0;  // 0…127
  uint16_t index = 0;         // number of the interval in the row
  uint8_t flags = 0;          // as in the qualifier of a point

  [[nodiscard]] Bytes Encode() const;
  bool operator==(const RollupQualifier&) const = default;
};

/// Maximum index in a qualifier. Readers would interpret a larger index as a millisecond qualifier.
/// OpenTSDB writes cells with such indexes incorrectly; Hourglass rejects the value
/// (opentsdb-schema.md §13.4, §22).
inline constexpr uint32_t kRollupIndexMax = 3839;

/// Makes the qualifier for a time. InvalidArgument: the time is outside of the row, or its index is
/// above kRollupIndexMax.
Result<RollupQualifier> MakeRollupQualifier(uint8_t aggregator_id, int64_t time_s, uint8_t flags,
                                            const RollupInterval& interval);

/// Decodes a qualifier. Corruption: it does not have three bytes, the id is above 127, or the flags
/// are invalid.
Result<RollupQualifier> DecodeRollupQualifier(ByteView qualifier);

/// The id and the name of an aggregator in the qualifiers of cells.
struct RollupAggregate {
  uint8_t id = 0;
  std::string name;  // lower case
};

/// Decodes the qualifier of a cell of one aggregator. The qualifier begins with the id, or with the
/// name and a colon ("sum:"), which older versions of OpenTSDB wrote (opentsdb-schema.md §13.4).
/// The result has the id in both cases. Returns nullopt for cells of other aggregators and for
/// other data.
std::optional<RollupQualifier> DecodeRollupQualifierOf(const RollupAggregate& aggregate,
                                                       ByteView qualifier);

}  // namespace hg::codec
