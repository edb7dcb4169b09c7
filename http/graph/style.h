#pragma once
// Parses the style of a plot from the parameters of /q (opentsdb-http-api.md §19.2). `tsdb query
// --graph` accepts the same parameters as words that begin with "+". All functions are pure.

#include "http/graph/plot.h"
#include "http/request/request.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// Minimum length of a side of a picture in pixels. A shorter side would have no space for the
/// axes.
inline constexpr int kSideMin = 100;
// kSideMax and kPixelsMax limit the memory of a picture.
inline constexpr int kSideMax = 8192;
inline constexpr int64_t kPixelsMax = 10'000'000;
inline constexpr size_t kTextBytesMax = 512;  // maximum length of a title or label in bytes

/// Parses the parameters wxh, yrange, y2range, ylabel, y2label, yformat, y2format, ylog, y2log,
/// key, nokey, title, bgcolor, fgcolor, smooth and style. Other parameters are ignored. The
/// switches ylog, y2log and nokey are on if they are present; any other parameter counts as absent
/// if it is empty. The message of InvalidArgument contains the name of the parameter and its value.
Result<Style> ReadStyle(const Parameters& parameters);

}  // namespace hg::http::graph
