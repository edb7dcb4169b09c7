#pragma once
// Draws a plot (Cairo). Pure but for the system's fonts: a plot and nothing else decides the bytes.

#include <string>

#include "http/graph/plot.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// More lines would be a blot, and hold a thread for long.
inline constexpr size_t kLinesMax = 2000;

/// A PNG file of the style's size. InvalidArgument: more lines than kLinesMax. IoError: no memory
/// for the picture.
Result<std::string> DrawPng(const Plot& plot);

}  // namespace hg::http::graph
