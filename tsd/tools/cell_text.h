#pragma once
// Formats bytes, dates and tags for `scan` and `uid` like Java's toString (opentsdb-tools.md §4).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::tsd {

/// Returns the bytes as signed decimals, such as "[0, -28, 1]".
std::string ByteListText(ByteView bytes);

/// Returns the time in the form "Tue Nov 14 22:00:00 UTC 2023" in the local time zone, without
/// fractions of a second.
std::string DateText(int64_t ms);

/// Tags by name, in UTF-8. They are in the order in which Java prints a map (HashNCapacity in
/// storage/model/java_hash.h).
using TagNames = std::vector<std::pair<std::string, std::string>>;
/// Sorts tags, which must be in the order of their ids, into the order in which Java prints a map.
void SortAsPrinted(TagNames* tags);
/// Returns the tags as Java prints a map, such as "{host=a, core=1}".
std::string TagMapText(const TagNames& tags);

}  // namespace hg::tsd
