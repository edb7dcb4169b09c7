#pragma once
// Copies names and ids to a store (the target) that may assign ids itself at the same time. A
// migration copies names and ids before all rows that use them.
//
// Counters are raised first, so that newly assigned ids differ from those of the source. Then
// compare-and-set writes each missing name and id, names before ids. If a client of the target
// requests one of the names meanwhile, it gets the id of the source, or the name already has
// another id. Existing data is never replaced.

#include <cstdint>
#include <string>

#include "storage/store.h"
#include "tsd/tools/id_map.h"
#include "uid/names.h"

namespace hg::tsd {

/// Key of the row with the counters, in the table of ids.
inline const Bytes kCounterRow(1, '\0');

/// Returns whether the cell is in a column of an id, a name or a counter. Other columns of the
/// table of ids hold metadata.
bool IsOfIds(const Cell& cell);

/// Copies names and ids and returns how many were put. Conflict: in the target, a name has another
/// id or an id another name. The message names them. If a conflict existed before the call, only
/// counters were written.
Result<uint64_t> BringNames(Store& from, const std::string& from_table, Store& to,
                            const std::string& to_table);

/// Like BringNames, but resolves conflicts. A name with another id, and an id with another name,
/// stay as they are in the target. The name from the source gets a new id in the target, which
/// `names` assigns. `one_history`: both stores had the same names and ids at some time. If an id
/// has another name in the target, it was renamed there; it then keeps the new name.
Result<IdMap> MatchNames(Store& from, const std::string& from_table, Store& to,
                         const std::string& to_table, const KeyLayout& layout, uid::Names& names,
                         bool one_history);

}  // namespace hg::tsd
