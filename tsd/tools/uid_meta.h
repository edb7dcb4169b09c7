#pragma once
// The commands uid metasync, metapurge, treesync and treepurge. They create metadata and trees from
// stored rows, and delete them (opentsdb-tools.md §6, opentsdb-schema.md §18.8).

#include <cstdint>

#include "storage/base/status.h"
#include "tsd/session.h"

namespace hg::tsd {

/// Creates missing or unreadable metadata: a TSMeta with a counter of 1 for every series with a
/// row, and a UIDMeta for each of its ids. The field `created` is the time of the first row. In
/// stored metadata, `created` is corrected if it is 0 or more than an hour after that time; other
/// fields stay.
Status RunMetaSync(Session& session);

/// Deletes the UIDMeta of all ids up to the highest metric id, and TSMeta and counters of all
/// series of such metrics. Like OpenTSDB, it uses the highest metric id for tag ids, too.
Status RunMetaPurge(Session& session);

/// Sorts every series with a TSMeta into the enabled trees, if the settings enable trees.
/// Collisions are recorded if a tree stores failures.
Status RunTreeSync(Session& session);

/// Deletes the branches, leaves, collisions and unmatched series of a tree. With `definition` it
/// also deletes the tree and its rules. For a tree that does not exist, it succeeds and deletes
/// nothing.
Status RunTreePurge(Session& session, uint16_t tree, bool definition);

}  // namespace hg::tsd
