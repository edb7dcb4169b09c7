#pragma once
// Converts a row to the form for files that a merge writes. Its numbers are split in two pieces
// (split_stream.h), so that blocks of such rows compress well (row_block.h). Memtables and files
// that a flush writes have the form that is faster to write.

#include "storage/base/bytes.h"

namespace hg::points {

/// Appends the converted row. Copies a row that already has the form. The result decodes to the
/// same bits, because each stream is checked. If the bytes are not a row, returns false and leaves
/// `out` unchanged.
bool SplitRow(ByteView encoded, Bytes* out);

}  // namespace hg::points
