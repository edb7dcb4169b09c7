#pragma once
// Parses names from a raw series key if the key has an ordinary form. Keys in any other form
// (escapes, characters outside of common ASCII, duplicate tag keys) are rejected. Callers then use
// the slow path, whose parsers in http/ handle every form.

#include <vector>

#include "storage/model/point_sink.h"

namespace hg::tsd {

/// Returns whether the text is a nonempty sequence of ASCII letters, digits, '-', '_', '.' and '/'.
/// Every configuration allows these characters in names.
bool IsPlainName(std::string_view text);

/// Reads the tags of a raw series key, in the order of OpenTSDB's map (NamedPoint). The tags are
/// views into the key. Returns false if the key does not have an ordinary form, or if it has no tag
/// or more than `tags_max` tags.
bool ReadPlainTags(Dialect dialect, std::string_view text, size_t tags_max,
                   std::vector<TagText>* tags);

}  // namespace hg::tsd
