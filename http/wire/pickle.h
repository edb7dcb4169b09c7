#pragma once
// Parses Graphite's pickle protocol: a list [(path, (time, value)), …] as Python's pickle module
// writes it. The parser supports lists, tuples, texts and numbers of the pickle protocols 0 to 4.
// It rejects pickles that look up names, create objects or call functions, and never executes
// anything.

#include <functional>
#include <string_view>

#include "http/wire/graphite_line.h"

namespace hg::http {

/// The maximum total length of the paths and other texts of all points, as a multiple of the length
/// of the pickle. Several points may share a text. A shared text is parsed, and counted, once for
/// each of these points.
inline constexpr size_t kPickleTextsMax = 32;

/// Calls `take` for each element of a pickle, in order. `take` gets a point, or the error of an
/// invalid element. The bytes of a point are valid only during the call of `take`. Of the path,
/// only the length was checked. InvalidArgument: the parser does not support a part of the pickle
/// (the message contains its position), or the texts are longer than kPickleTextsMax allows. In
/// these cases `take` was not called.
Status ReadPickledPoints(std::string_view pickle, Timestamp now,
                         const std::function<void(const Result<GraphitePoint>&)>& take);

}  // namespace hg::http
