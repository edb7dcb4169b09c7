#pragma once
// Names out of the raw bytes of a spelling, where these say them plainly. Whatever is out of the
// ordinary (an escape, a letter outside of ASCII's common ones, a key twice) is refused, and the
// exact parsers of http look at it.

#include <vector>

#include "storage/model/point_sink.h"

namespace hg::tsd {

/// Letters, digits, '-', '_', '.' and '/' of ASCII, at least one: what every configuration allows
/// in a name.
bool IsPlainName(std::string_view text);

/// The tags in the order of OpenTSDB's map (NamedPoint), borrowed from the spelling; at least one.
/// More than `tags_max` are out of the ordinary, too, and not read to their end.
bool ReadPlainTags(Dialect dialect, std::string_view text, size_t tags_max,
                   std::vector<TagText>* tags);

}  // namespace hg::tsd
