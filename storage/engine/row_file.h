#pragma once
// Row-hours in a block file, ordered by series and base (storage/points/FORMAT.md "Points file"):
//
//   key    metric ‖ number of tag pairs (2 bytes) ‖ pairs ‖ base (4 bytes), big-endian
//   value  form and points (row_codec.h)
//
// The number of pairs keeps the hours of a series together. Without it, a series whose pairs begin
// with those of another series could sort between the hours of that series.

#include <memory>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/block_file.h"
#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"
#include "storage/points/row_part.h"

namespace hg::engine {

Bytes RowFileKey(const KeyLayout& layout, ByteView tsuid, uint32_t base);
/// Splits a key into TSUID and base. Returns false if the key is invalid.
bool SplitRowFileKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base);
/// Returns the prefix that the row keys of a series have in common: salt and metric.
Bytes RowKeyPrefix(const KeyLayout& layout, ByteView tsuid);
/// Returns the time span of the hours in `rows`, from their first to their last moment. If `rows`
/// is empty, returns the span of its first hour.
lsm::TimeSpan TimesOf(const RowRange& rows);
/// Returns whether series a comes before series b in points files.
bool RowFileOrder(const KeyLayout& layout, ByteView tsuid_a, ByteView tsuid_b);

/// A fixed-size prefix of the sort key that a series has in points files. If two heads differ, the
/// series with the smaller head comes first; if they are equal, RowFileOrder decides. Sorting many
/// series by heads avoids reading their TSUIDs, which are scattered in memory.
struct RowFileHead {
  uint64_t first = 0, second = 0;
  auto operator<=>(const RowFileHead&) const = default;
};
RowFileHead RowFileHeadOf(const KeyLayout& layout, ByteView tsuid);

/// Appends the encoded points and form of a RowPart. If the RowPart has raw cells, the sequence
/// numbers of its points are included.
void EncodeFileRow(const points::RowPart& row_part, Bytes* out);
/// Decodes a row, and sets points and form of *row_part. Returns false if the bytes are not a valid
/// row. `sequence` is the last sequence number of the file. Points that were stored without their
/// own sequence number get `sequence`.
bool DecodeFileRow(ByteView in, uint64_t sequence, points::RowPart* row_part);

/// Reads one row from a points file, and sets points and form of *row_part. Returns false if the
/// file does not have the row. Points that were stored without their own sequence number get
/// `sequence`. `context` is that of BlockFile::Get.
Result<bool> ReadFileRow(const KeyLayout& layout, const lsm::BlockFile& file, ByteView tsuid,
                         uint32_t base, uint64_t sequence, points::RowPart* row_part,
                         RequestContext* context);
/// Appends, in ascending order, the base times of those rows of a series that are in the file and
/// in `range`.
Status ListFileBases(const KeyLayout& layout, const std::shared_ptr<const lsm::BlockFile>& file,
                     ByteView tsuid, const RowRange& range, std::vector<uint32_t>* bases);

}  // namespace hg::engine
