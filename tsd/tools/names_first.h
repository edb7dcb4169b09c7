#pragma once
// Copies names and ids to a store that assigns ids of its own at the same time. They are copied
// before all rows that use them.
//
// Counters are raised first, so that newly assigned ids differ from those of the source. Then each
// missing name and id is put by compare-and-set, names before ids. A client that requests a name
// meanwhile either gets the id of the source, or has got another id before. Existing data is never
// replaced.

#include <cstdint>
#include <string>

#include "storage/store.h"
#include "tsd/tools/id_map.h"
#include "uid/names.h"

namespace hg::tsd {

/// The row with the counters in the table of ids.
inline const Bytes kCounterRow(1, '\0');

/// Whether the cell is in a column of an id, a name or a counter. Other columns of the table of ids
/// hold metadata.
bool IsOfIds(const Cell& cell);

/// Copies names and ids and returns how many were put. Conflict: in the target, a name has another
/// id or an id another name. The message names them. If this was so before the call, only counters
/// were written.
Result<uint64_t> BringNames(Store& from, const std::string& from_table, Store& to,
                            const std::string& to_table);

/// Like BringNames, but resolves conflicts. A name with another id, and an id with another name,
/// stay as they are in the target. The name from the source gets a new id from `names`, the names
/// of the target. With `one_history`, ids are unique over both stores: an id with another name was
/// renamed in the target, and is kept under the new name.
Result<IdMap> MatchNames(Store& from, const std::string& from_table, Store& to,
                         const std::string& to_table, const KeyLayout& layout, uid::Names& names,
                         bool one_history);

}  // namespace hg::tsd
