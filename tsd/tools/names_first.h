#pragma once
// Copies names and ids to a store (the target) that may assign ids itself at the same time. A
// migration copies names and ids before all rows that use them.
//
// BringNames first raises the counters, so that ids that the target assigns from now on differ from
// the ids of the source. Then it writes each missing name and id with compare-and-set, first the
// name and then the id. If a client of the target requests one of these names meanwhile, the client
// gets the id of the source, or the name already has another id. Existing data is never replaced.

#include <cstdint>
#include <string>

#include "storage/store.h"
#include "tsd/tools/id_map.h"
#include "uid/names.h"

namespace hg::tsd {

/// The key of the row that has the counters, in the table of ids.
inline const Bytes kCounterRow(1, '\0');

/// Returns whether the cell is in a column for ids, names or counters. All other columns of the
/// table of ids hold metadata.
bool IsOfIds(const Cell& cell);

/// Copies names and ids, and returns how many names and ids were put. Conflict: in the target, a
/// name has another id than in the source, or an id has another name. The message contains the name
/// and the id. If the conflict existed before the call, only counters were written.
Result<uint64_t> BringNames(Store& from, const std::string& from_table, Store& to,
                            const std::string& to_table);

/// Copies names and ids as BringNames does, but resolves conflicts. If a name has another id in the
/// target, or an id has another name there, the target stays as it is. The name from the source
/// then gets a new id in the target, which `names` assigns. `one_history` states that both stores
/// had the same names and ids at some time. In this case, an id with another name in the target was
/// renamed there, so the id keeps its new name.
Result<IdMap> MatchNames(Store& from, const std::string& from_table, Store& to,
                         const std::string& to_table, const KeyLayout& layout, uid::Names& names,
                         bool one_history);

}  // namespace hg::tsd
