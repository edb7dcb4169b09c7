#pragma once
// The commands `uid metasync`, `metapurge`, `treesync` and `treepurge`. They create metadata and
// trees from stored rows, or delete metadata and trees (opentsdb-tools.md §6, opentsdb-schema.md
// §18.8).

#include <cstdint>

#include "storage/base/status.h"
#include "tsd/session.h"

namespace hg::tsd {

/// Creates metadata that is missing or unreadable: a TSMeta with a counter of 1 for every series
/// that has a row, and a UIDMeta for each id of the series. The field `created` is the time of the
/// first row. In existing metadata, `created` is corrected if it is 0, or if it is more than an
/// hour after the time of the first row. All other fields stay.
Status RunMetaSync(Session& session);

/// Deletes the UIDMeta of all ids up to the highest metric id. Also deletes the TSMeta and the
/// counters of all series whose metric is one of these ids. The highest metric id is the limit for
/// ids of tags, too, as in OpenTSDB.
Status RunMetaPurge(Session& session);

/// Deletes the TSMeta and the counters of series that have no row in any table of points, rollups
/// or pre-aggregates. The metadata of ids stays. Reads the keys of all these tables. If a client
/// writes a point of such a series while the function runs, the series may lose its metadata;
/// RunMetaSync creates it again.
Status RunForgottenMetaPurge(Session& session);

/// Adds every series that has a TSMeta to the enabled trees, if the settings enable trees. Leaves
/// out series that do not fit the rules of a tree. If a tree stores failures, collisions are
/// recorded.
Status RunTreeSync(Session& session);

/// Deletes the branches, leaves, collisions and unmatched series of a tree. If `definition` is
/// true, also deletes the tree and its rules. If the tree does not exist, the function deletes
/// nothing and returns OK.
Status RunTreePurge(Session& session, uint16_t tree, bool definition);

}  // namespace hg::tsd
