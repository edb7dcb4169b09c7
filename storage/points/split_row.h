#pragma once
// Converts an encoded row to the encoding of files that merges write. In this encoding, numbers are
// split in two pieces (split_stream.h), so that blocks of rows compress well (row_block.h).
// Memtables, and files that flushes write, use an encoding that is faster to write.

#include "storage/base/bytes.h"

namespace hg::points {

/// Appends the converted row. If the row is already converted, SplitRow copies it. The result
/// decodes to the same bits, because each stream is checked. If `encoded` is not a row, returns
/// false and leaves `out` unchanged.
bool SplitRow(ByteView encoded, Bytes* out);

}  // namespace hg::points
