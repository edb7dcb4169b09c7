#pragma once
// Converts a row to the form used in merged files. Its numbers are split in two pieces
// (split_stream.h), so that blocks of such rows compress well (row_block.h). Memory and flushed
// files keep the form that is faster to write.

#include "storage/base/bytes.h"

namespace hg::points {

/// Appends the converted row. A row that has the form already is copied. The result decodes to the
/// same bits, because each stream is checked. Returns false, with `out` unchanged, if the bytes are
/// not a row.
bool SplitRow(ByteView encoded, Bytes* out);

}  // namespace hg::points
