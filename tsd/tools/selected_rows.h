#pragma once
// The stored rows that a command-line query reads, for scan and fsck (opentsdb-tools.md §2). The
// rows contain whole hours. With salt, the buckets are read one after the other.

#include <vector>

#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/tools/query_words.h"

namespace hg::tsd {

/// Returns the scans for the times of `queries`, one per salt bucket, each in key order. The end is
/// always the next hour, even if the end time is a full hour (opentsdb-schema.md §16.1).
std::vector<ScanSpec> ScansOf(const KeyLayout& layout, const std::string& data_table,
                              const WordQueries& queries, const Selection& selection);

/// Returns whether the tags of a row from these scans match the selection. A key that does not fit
/// the layout matches only if no tags were requested.
bool IsSelected(const KeyLayout& layout, const Selection& selection, ByteView key);

}  // namespace hg::tsd
