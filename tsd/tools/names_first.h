#pragma once
// Names and ids of one store for another one that gives out ids of its own meanwhile: before any
// row that is told by them.
//
// Counters are raised first, so that ids given out from then on are none of the source's. Then each
// name and id is put where there is none, by compare-and-set, names before ids: whoever asks for a
// name meanwhile finds the id that it has in the source, or has given it one before. Nothing that
// is there is replaced.

#include <cstdint>
#include <string>

#include "storage/store.h"
#include "tsd/tools/id_map.h"
#include "uid/names.h"

namespace hg::tsd {

/// The row of the table of ids that has the counters.
inline const Bytes kCounterRow(1, '\0');

/// Whether the column tells an id, a name or how many ids there are; others tell metadata.
bool IsOfIds(const Cell& cell);

/// How many names and ids were put. Conflict: a name has another id there, or an id another name;
/// the message names them. If that was so before the call, nothing but counters was written.
Result<uint64_t> BringNames(Store& from, const std::string& from_table, Store& to,
                            const std::string& to_table);

/// The same, but nothing is refused: a name that has another id there keeps that, and so does an id
/// that has another name. Its name in the source gets a new id by `names`, those of the other side;
/// but where both are of `one_history`, so that ids are given once, it was renamed, and keeps the
/// id under its new name.
Result<IdMap> MatchNames(Store& from, const std::string& from_table, Store& to,
                         const std::string& to_table, const KeyLayout& layout, uid::Names& names,
                         bool one_history);

}  // namespace hg::tsd
