#pragma once
// Formats bytes, dates and tags for the commands `scan` and `uid` in the way in which Java's
// toString formats them (opentsdb-tools.md §4).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::tsd {

/// Returns the bytes as signed decimal numbers, such as "[0, -28, 1]".
std::string ByteListText(ByteView bytes);

/// Returns a time as text, such as "Tue Nov 14 22:00:00 UTC 2023". The time is in the local time
/// zone, without fractions of a second.
std::string DateText(int64_t ms);

/// Names of tag keys and tag values, in UTF-8. The tags are in the order in which Java prints a map
/// (HashNCapacity in storage/model/java_hash.h).
using TagNames = std::vector<std::pair<std::string, std::string>>;
/// Sorts tags into the order in which Java prints a map. Before the call, the tags must be in the
/// order of their ids.
void SortAsPrinted(TagNames* tags);
/// Returns the tags in the form in which Java prints a map, such as "{host=a, core=1}".
std::string TagMapText(const TagNames& tags);

}  // namespace hg::tsd
