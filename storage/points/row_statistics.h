#pragma once
// What the numbers of a row add up to, kept beside them in files (FORMAT.md "Row"), so that whoever
// downsamples whole hours need not decode them (spec performance.md §4).

#include <optional>

#include "storage/base/bytes.h"
#include "storage/points/byte_reader.h"
#include "storage/points/points.h"
#include "storage/points/row_codec.h"

namespace hg::points {

/// Fewer points are decoded in no time, and their statistics would be a good part of the row.
inline constexpr size_t kStatisticsPointsMin = 100;

/// None where they would not say what adding the points one by one gives: of rows that mix kinds,
/// that hold NaN, an infinity or -0.0, or integers whose sum a double may not hold.
std::optional<RowStatistics> StatisticsOf(const RowColumns& columns);

/// False: the row has statistics, and they are not those of its points; or it cannot be read.
bool StatisticsHold(ByteView encoded_row);

/// What lies between neighbours of an encoded row, where that is the same for all; else, or if the
/// bytes are no row, 0.
uint32_t GridStepMs(ByteView encoded_row);

/// Fills the statistics of a row with nothing to settle. False: it has none, or more beside its
/// points, or it cannot be read.
bool ReadSettledStatistics(ByteView encoded_row, RowStatistics* statistics);

/// Appends the part of them that times and head of the row do not tell.
void AppendStatistics(const RowStatistics& statistics, Bytes* out);
/// Reads that part, by a ByteReader or an AmpleReader. False: the bytes cannot be statistics.
template <typename Reader>
bool TakeStatistics(Reader* in, bool doubles, RowStatistics* statistics);

}  // namespace hg::points
