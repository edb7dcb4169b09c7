#pragma once
// Statistics of the numbers of a row. Files have statistics in addition to the points (FORMAT.md
// "Row"), so that downsampling of whole hours need not decode points (performance.md §4).

#include <optional>

#include "storage/base/bytes.h"
#include "storage/points/byte_reader.h"
#include "storage/points/points.h"
#include "storage/points/row_codec.h"

namespace hg::points {

/// Minimum number of points of a row with statistics. Rows with fewer points are decoded quickly,
/// and statistics would enlarge them considerably.
inline constexpr size_t kStatisticsPointsMin = 100;

/// Computes the statistics of a row. Returns nullopt if a sum in the statistics could differ from
/// the sum of the points added one by one: for rows with mixed kinds, NaN, an infinity or -0.0, and
/// for integers whose sum may not fit in a double exactly.
std::optional<RowStatistics> StatisticsOf(const RowColumns& columns);

/// Checks the statistics of an encoded row. Returns false if the row cannot be decoded, or if its
/// statistics differ from those of its points.
bool StatisticsHold(ByteView encoded_row);

/// Returns the distance between neighbouring points of an encoded row if it is constant. Otherwise,
/// or if the bytes are not a row, returns 0.
uint32_t GridStepMs(ByteView encoded_row);

/// Reads the statistics of an encoded row. Returns false if the row has no statistics, has raw
/// cells or duplicates (so that it needs reconciling), or cannot be decoded.
bool ReadSettledStatistics(ByteView encoded_row, RowStatistics* statistics);

/// Appends those statistics that do not follow from the times and the first bytes of the row.
void AppendStatistics(const RowStatistics& statistics, Bytes* out);
/// Reads the fields that AppendStatistics wrote, with a ByteReader or an AmpleReader. Returns false
/// if the bytes are not valid statistics.
template <typename Reader>
bool TakeStatistics(Reader* in, bool doubles, RowStatistics* statistics);

}  // namespace hg::points
