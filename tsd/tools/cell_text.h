#pragma once
// How `scan` and `uid` print bytes, dates and tags: as Java's toString does (spec cli.md §4).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"

namespace hg::tsd {

/// "[0, -28, 1]": signed decimals.
std::string ByteListText(ByteView bytes);

/// "Tue Nov 14 22:00:00 UTC 2023" in the process' zone; what is below a second is cut.
std::string DateText(int64_t ms);

/// Names of tags, UTF-8, in the order of a printed map (storage/model/java_hash.h, HashNCapacity).
using TagNames = std::vector<std::pair<std::string, std::string>>;
/// Brings tags that stand in the order of their ids into that order.
void SortAsPrinted(TagNames* tags);
/// "{host=a, core=1}".
std::string TagMapText(const TagNames& tags);

}  // namespace hg::tsd
