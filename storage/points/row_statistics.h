#pragma once
// Statistics of the numbers of a row. Files store statistics in addition to the points (FORMAT.md
// "Row"), so that downsampling of whole hours need not decode points (performance.md §4).

#include <optional>

#include "storage/base/bytes.h"
#include "storage/points/byte_reader.h"
#include "storage/points/points.h"
#include "storage/points/row_codec.h"

namespace hg::points {

/// Minimum number of points of a row with statistics. A row with fewer points is decoded quickly,
/// and statistics would enlarge it considerably.
inline constexpr size_t kStatisticsPointsMin = 100;

/// Computes the statistics of a row. Returns nullopt if the row has fewer than kStatisticsPointsMin
/// points, or if a sum in the statistics could differ from the sum of the points added one by one.
/// The sums could differ for rows with both integers and doubles, for rows with NaN, an infinity or
/// -0.0, and for integers whose sum may not fit in a double exactly.
std::optional<RowStatistics> StatisticsOf(const RowColumns& columns);

/// Checks the statistics of an encoded row. Returns true without decoding the points if the row has
/// no statistics. Returns false if the row cannot be decoded, or if its statistics differ from the
/// statistics of its points.
bool StatisticsHold(ByteView encoded_row);

/// Returns the distance in ms between neighbouring points of an encoded row if this distance is
/// constant. Returns 0 if the distance is not constant, if the row has only one point, or if the
/// bytes are not a row.
uint32_t GridStepMs(ByteView encoded_row);

/// Reads the statistics of an encoded row. Returns false if the row has no statistics or cannot be
/// decoded. Also returns false if raw cells affect the points of the row, or if two points have the
/// same time. The points of these rows must first be reconciled (storage/points/reconcile.h).
bool ReadSettledStatistics(ByteView encoded_row, RowStatistics* statistics);

/// Appends last_offset_ms, least, most and sum. The encoded row also has the other statistics.
void AppendStatistics(const RowStatistics& statistics, Bytes* out);
/// Reads the fields that AppendStatistics wrote. `doubles` is RowStatistics::all_double of the row.
/// The reader is a ByteReader or an AmpleReader. Returns false if the bytes are not valid
/// statistics.
template <typename Reader>
bool TakeStatistics(Reader* in, bool doubles, RowStatistics* statistics);

}  // namespace hg::points
