#pragma once
// Parses Graphite's pickle protocol: [(path, (time, value)), …] as Python's pickle module writes
// it. Supports lists, tuples, texts and numbers of protocols 0 to 4. Pickles that look up names,
// create objects or call functions are rejected; nothing is ever executed.

#include <functional>
#include <string_view>

#include "http/wire/graphite_line.h"

namespace hg::http {

/// Maximum length of the paths and other texts of all points, as a multiple of the length of the
/// pickle. Points may share a text. A shared text is parsed, and counts, once for each of these
/// points.
inline constexpr size_t kPickleTextsMax = 32;

/// Passes each element of a pickle to `take`, in order: a point, or the error of an invalid
/// element. The bytes of a point are valid during the call only. Only the length of its path was
/// checked. InvalidArgument: a part of the pickle is not supported (the message names its
/// position), or the texts are too long; then `take` was not called.
Status ReadPickledPoints(std::string_view pickle, Timestamp now,
                         const std::function<void(const Result<GraphitePoint>&)>& take);

}  // namespace hg::http
