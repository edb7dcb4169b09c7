#pragma once
// Parses names from a raw series key if its form is ordinary. It rejects everything else (escapes,
// characters outside of common ASCII, duplicate keys), which the exact parsers of http/ handle.

#include <vector>

#include "storage/model/point_sink.h"

namespace hg::tsd {

/// Whether the text is a nonempty sequence of ASCII letters, digits, '-', '_', '.' and '/'. Every
/// configuration allows these in names.
bool IsPlainName(std::string_view text);

/// Reads the tags in the order of OpenTSDB's map (NamedPoint), as views into the key. There must be
/// at least one. More than `tags_max` tags are rejected early.
bool ReadPlainTags(Dialect dialect, std::string_view text, size_t tags_max,
                   std::vector<TagText>* tags);

}  // namespace hg::tsd
