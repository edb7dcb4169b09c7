#pragma once
// Row-hours in a points file, ordered by series and base time (storage/points/FORMAT.md "Points
// file"):
//
//   key    metric ‖ number of tag pairs (2 bytes) ‖ pairs ‖ base (4 bytes), big-endian
//   value  form and points (row_codec.h)
//
// The number of pairs keeps the hours of a series together. Without this number, a series whose
// pairs begin with the pairs of another series could be sorted between the hours of the other
// series.

#include <memory>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/block_file.h"
#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"
#include "storage/points/row_part.h"

namespace hg::engine {

Bytes RowFileKey(const KeyLayout& layout, ByteView tsuid, uint32_t base);
/// Splits a key of a points file into TSUID and base time. Returns false if the key is invalid.
bool SplitRowFileKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base);
/// Returns the prefix that all row keys of a series have in common: salt and metric.
Bytes RowKeyPrefix(const KeyLayout& layout, ByteView tsuid);
/// Returns the time span of the hours in `rows`, from the first to the last moment of these hours.
/// If `rows` is empty, returns the span of the hour that begins at rows.begin.
lsm::TimeSpan TimesOf(const RowRange& rows);
/// Returns whether points files store series a before series b.
bool RowFileOrder(const KeyLayout& layout, ByteView tsuid_a, ByteView tsuid_b);

/// A fixed-size prefix of the sort key that a series has in points files. If the heads of two
/// series differ, the series with the smaller head comes first. If both heads are equal,
/// RowFileOrder decides. Sorting many series by heads avoids reading their TSUIDs, which are
/// scattered in memory.
struct RowFileHead {
  uint64_t first = 0, second = 0;
  auto operator<=>(const RowFileHead&) const = default;
};
RowFileHead RowFileHeadOf(const KeyLayout& layout, ByteView tsuid);

/// Appends the encoded points and the encoded form of a RowPart. If the RowPart has raw cells, the
/// encoding includes the sequence numbers of the points.
void EncodeFileRow(const points::RowPart& row_part, Bytes* out);
/// Decodes a row of a points file, and sets the points and the form of *row_part. Returns false if
/// `in` is not a valid row. `sequence` is the last sequence number of the file. Points that were
/// stored without their own sequence number get `sequence`.
bool DecodeFileRow(ByteView in, uint64_t sequence, points::RowPart* row_part);

/// Charges the work and memory of decoding `count` points and converting each point to a cell.
/// Returns the error of the charge. If `memory` is nullptr, charges nothing.
Status ChargePoints(uint64_t count, MemoryTally* memory);
/// Reads one row from a points file as DecodeFileRow does. Returns false if the file lacks the row,
/// Corruption if the row is damaged, and Busy if it would read the disk and the context of `memory`
/// may not wait. Calls ChargePoints before the row is decoded. `memory` may be nullptr.
Result<bool> ReadFileRow(const KeyLayout& layout, const lsm::BlockFile& file, ByteView tsuid,
                         uint32_t base, uint64_t sequence, points::RowPart* row_part,
                         MemoryTally* memory);
/// Appends the base times of those rows of a series that are in the file and in `range`. The base
/// times are in ascending order.
Status ListFileBases(const KeyLayout& layout, const std::shared_ptr<const lsm::BlockFile>& file,
                     ByteView tsuid, const RowRange& range, std::vector<uint32_t>* bases);

}  // namespace hg::engine
