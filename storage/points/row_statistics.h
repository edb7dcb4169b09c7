#pragma once
// Statistics of the numbers of a row. Files store them next to the points (FORMAT.md "Row"), so
// that downsampling whole hours need not decode points (performance.md §4).

#include <optional>

#include "storage/base/bytes.h"
#include "storage/points/byte_reader.h"
#include "storage/points/points.h"
#include "storage/points/row_codec.h"

namespace hg::points {

/// Minimum number of points of a row with statistics. Rows with fewer points are decoded quickly,
/// and statistics would enlarge them noticeably.
inline constexpr size_t kStatisticsPointsMin = 100;

/// Computes the statistics of a row. Returns nullopt if a sum in the statistics could differ from
/// the sum of the points added one by one. That is so for rows with mixed kinds, NaN, an infinity
/// or -0.0, and for integers whose sum may not fit a double exactly.
std::optional<RowStatistics> StatisticsOf(const RowColumns& columns);

/// Checks the statistics of an encoded row. Returns false if the row cannot be decoded, or if its
/// statistics differ from those of its points.
bool StatisticsHold(ByteView encoded_row);

/// Returns the distance between neighbouring points of an encoded row if it is constant. Otherwise,
/// or if the bytes are no row, returns 0.
uint32_t GridStepMs(ByteView encoded_row);

/// Reads the statistics of an encoded row. Returns false if the row has no statistics, has raw
/// cells or duplicates (so that it needs reconciling), or cannot be read.
bool ReadSettledStatistics(ByteView encoded_row, RowStatistics* statistics);

/// Appends the fields of the statistics that are not implied by the times and the head of the row.
void AppendStatistics(const RowStatistics& statistics, Bytes* out);
/// Reads the fields that AppendStatistics wrote, with a ByteReader or an AmpleReader. Returns false
/// if the bytes cannot be statistics.
template <typename Reader>
bool TakeStatistics(Reader* in, bool doubles, RowStatistics* statistics);

}  // namespace hg::points
