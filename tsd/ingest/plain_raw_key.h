#pragma once
// Parses the names in a raw series key of ordinary form. A key has an ordinary form if it has no
// escapes, no duplicate tag keys, and no characters except common ASCII characters. For all other
// keys, callers use the slow path, whose parsers in http/ handle every form.

#include <vector>

#include "storage/model/point_sink.h"

namespace hg::tsd {

/// Returns whether the text is not empty and consists only of ASCII letters, digits, '-', '_', '.'
/// and '/'. These characters are allowed in names with every configuration.
bool IsPlainName(std::string_view text);

/// Reads the tags of a raw series key. The tags are views of the key, in the order in which
/// OpenTSDB's map of tags iterates (java_hash.h). Returns false and leaves `tags` unchanged if the
/// key does not have an ordinary form, or if it has no tag or more than `tags_max` tags.
bool ReadPlainTags(Dialect dialect, std::string_view text, size_t tags_max,
                   std::vector<TagText>* tags);

}  // namespace hg::tsd
