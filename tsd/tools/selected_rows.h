#pragma once
// The stored rows that a query of the command line reads, for scan and fsck (spec cli.md §2): whole
// hours, bucket by bucket where the table is salted.

#include <vector>

#include "storage/model/key_layout.h"
#include "storage/store.h"
#include "tsd/tools/query_words.h"

namespace hg::tsd {

/// Scans of the rows between the times of `queries`, one a salt bucket, each in key order. The end
/// is always the next hour, also for an end on the hour (spec schema.md §16.1).
std::vector<ScanSpec> ScansOf(const KeyLayout& layout, const std::string& data_table,
                              const WordQueries& queries, const Selection& selection);

/// Whether a row of these scans is wanted, by its tags. A key that does not fit the layout is
/// wanted only where no tags were asked for.
bool IsSelected(const KeyLayout& layout, const Selection& selection, ByteView key);

}  // namespace hg::tsd
