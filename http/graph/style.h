#pragma once
// The looks of a plot from the parameters of /q (spec http-api.md §19.2), which are also the +words
// of `tsdb query --graph`. Pure.

#include "http/graph/plot.h"
#include "http/request.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// Shorter sides could not hold the axes; a longer one, or more pixels, would cost memory only.
inline constexpr int kSideMin = 100;
inline constexpr int kSideMax = 8192;
inline constexpr int64_t kPixelsMax = 10'000'000;
inline constexpr size_t kTextBytesMax = 512;  // of a title or label

/// wxh yrange y2range ylabel y2label yformat y2format ylog y2log key nokey title bgcolor fgcolor
/// smooth style; others are not looked at, empty ones are as if absent. InvalidArgument names the
/// parameter and its value.
Result<Style> ReadStyle(const Parameters& parameters);

}  // namespace hg::http::graph
