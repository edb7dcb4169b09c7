#pragma once
// Draws a plot with Cairo. The bytes of the image depend only on the plot and the system's fonts.

#include <string>

#include "http/graph/plot.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// Maximum number of lines in a plot. More lines could not be distinguished, and drawing them would
/// occupy a thread for a long time.
inline constexpr size_t kLinesMax = 2000;

/// Returns a PNG file with the size that the style has. The bitmap and the working memory are
/// charged to `context`; the returned file stays charged. InvalidArgument: more than kLinesMax
/// lines. IoError: no memory for the bitmap. Also returns errors of `context`.
Result<std::string> DrawPng(const Plot& plot, RequestContext& context);

}  // namespace hg::http::graph
