#pragma once
// Selects the stored rows that a command-line query reads, for the commands scan and fsck
// (opentsdb-tools.md §2). The rows contain whole hours. If row keys have a salt, the salt buckets
// are read one after another.

#include <vector>

#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/tools/query_words.h"

namespace hg::tsd {

/// Returns the scans that read the metric of `selection` in the time range of `queries`: one scan
/// for each salt bucket, in the order of its keys. A scan always ends at the next full hour, even
/// if the end time itself is a full hour (opentsdb-schema.md §16.1).
std::vector<ScanSpec> ScansOf(const KeyLayout& layout, const std::string& data_table,
                              const WordQueries& queries, const Selection& selection);

/// Returns whether the tags of a row from the scans of ScansOf match the selection. If the key of
/// the row does not fit the layout, the row matches only if no tags were requested.
bool IsSelected(const KeyLayout& layout, const Selection& selection, ByteView key);

}  // namespace hg::tsd
