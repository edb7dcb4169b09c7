#pragma once
// Row-hours in a block file, series after series (engine.md §6):
//
//   key    metric ‖ number of tag pairs (2 bytes) ‖ pairs ‖ base (4 bytes), big-endian
//   value  form and points (row_codec.h)
//
// The number keeps the hours of a series together where the pairs of another one go on behind its
// own.

#include <memory>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/block_file.h"
#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"
#include "storage/points/part.h"

namespace hg::points {

Bytes RowFileKey(const KeyLayout& layout, ByteView tsuid, uint32_t base);
/// The parts of such a key; false if it cannot be one.
bool SplitRowFileKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base);
/// What the row keys of a series begin with: salt and metric.
Bytes RowKeyPrefix(const KeyLayout& layout, ByteView tsuid);
/// From the first moment of the hours of rows to the last; of an empty range, its first hour.
lsm::TimeSpan TimesOf(const RowRange& rows);
/// The order of the files: a stands before b.
bool RowFileOrder(const KeyLayout& layout, ByteView tsuid_a, ByteView tsuid_b);

/// The beginning of a series' place in that order: of two heads that differ, the lesser one's
/// series stands before; of equal ones RowFileOrder decides. Many are sorted by it without a look
/// at their TSUIDs, which lie all over memory.
struct RowFileHead {
  uint64_t first = 0, second = 0;
  auto operator<=>(const RowFileHead&) const = default;
};
RowFileHead RowFileHeadOf(const KeyLayout& layout, ByteView tsuid);

/// Appends the points and form of a part; their generations where raw cells stand beside them.
void EncodeFileRow(const Part& part, Bytes* out);
/// Fills points and form; false if the bytes are no row. `generation`: of points stored without,
/// the file's last sequence.
bool DecodeFileRow(ByteView in, uint32_t generation, Part* part);

/// Fills points and form of one row; false if the file has none.
Result<bool> ReadFileRow(const KeyLayout& layout, const lsm::BlockFile& file, ByteView tsuid,
                         uint32_t base, uint32_t generation, Part* part);
/// Appends the bases of a series' rows in range, ascending.
Status ListFileBases(const KeyLayout& layout, const std::shared_ptr<const lsm::BlockFile>& file,
                     ByteView tsuid, const RowRange& range, std::vector<uint32_t>* bases);

}  // namespace hg::points
