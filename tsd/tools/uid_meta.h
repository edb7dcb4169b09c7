#pragma once
// uid metasync, metapurge, treesync and treepurge: metadata and trees made from what is stored,
// and taken away (spec cli.md §6, schema.md §18.8).

#include <cstdint>

#include "storage/base/status.h"
#include "tsd/session.h"

namespace hg::tsd {

/// Gives every series that has a row its TSMeta with a counter of 1, and every id in it its
/// UIDMeta, where they are missing or cannot be read. `created` is the first row's time, also where
/// what is stored says 0 or is more than an hour later; whatever else it says stays.
Status RunMetaSync(Session& session);

/// Deletes UIDMeta of all ids up to the highest metric's, and TSMeta with its counter of all series
/// of such metrics. OpenTSDB goes by the metrics' highest id for tag ids, too; so do we.
Status RunMetaPurge(Session& session);

/// Sorts every series that has a TSMeta object into the enabled trees, if the settings enable them;
/// collisions are noted where a tree stores failures.
Status RunTreeSync(Session& session);

/// Empties a tree: branches, leaves, collisions, series that did not match; with `definition` the
/// tree and its rules, too. An unknown tree is empty.
Status RunTreePurge(Session& session, uint16_t tree, bool definition);

}  // namespace hg::tsd
