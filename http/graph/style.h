#pragma once
// Reads the style of a plot from the parameters of /q (opentsdb-http-api.md §19.2). `tsdb query
// --graph` accepts the same parameters as +words. Pure functions.

#include "http/graph/plot.h"
#include "http/request/request.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// Minimum length of a side in pixels. A shorter side has no space for the axes. The other limits
/// bound the memory of a picture.
inline constexpr int kSideMin = 100;
inline constexpr int kSideMax = 8192;
inline constexpr int64_t kPixelsMax = 10'000'000;
inline constexpr size_t kTextBytesMax = 512;  // length of a title or label

/// Reads wxh yrange y2range ylabel y2label yformat y2format ylog y2log key nokey title bgcolor
/// fgcolor smooth style. Other parameters are ignored; empty ones count as absent. InvalidArgument
/// names the parameter and its value.
Result<Style> ReadStyle(const Parameters& parameters);

}  // namespace hg::http::graph
