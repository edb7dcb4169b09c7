#pragma once
// Prints bytes, dates and tags for `scan` and `uid` like Java's toString (opentsdb-tools.md §4).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::tsd {

/// Returns signed decimals: "[0, -28, 1]".
std::string ByteListText(ByteView bytes);

/// Returns "Tue Nov 14 22:00:00 UTC 2023" in the local time zone, without fractions of a second.
std::string DateText(int64_t ms);

/// Names of tags in UTF-8, in the order of a printed map (storage/model/java_hash.h,
/// HashNCapacity).
using TagNames = std::vector<std::pair<std::string, std::string>>;
/// Sorts tags, which are ordered by their ids, into the order of a printed map.
void SortAsPrinted(TagNames* tags);
/// Returns "{host=a, core=1}".
std::string TagMapText(const TagNames& tags);

}  // namespace hg::tsd
