#pragma once
// The form of a row in merged files: its numbers cut in two (split_stream.h), so that a block of
// such rows can be made small (row_block.h). Memory and flushed files keep the form that is quicker
// to write. A row that an earlier build flushed gets its statistics here.

#include "storage/base/bytes.h"

namespace hg::points {

/// Appends the row in that form; one that has it already comes out as it is. Decodes to the same
/// bits: each stream is tried. False, with `out` untouched, if the bytes are no row.
bool SplitRow(ByteView encoded, Bytes* out);

}  // namespace hg::points
