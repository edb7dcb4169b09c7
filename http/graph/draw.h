#pragma once
// Draws a plot with Cairo. The bytes of the image depend only on the plot and on the fonts of the
// system.

#include <string>

#include "http/graph/plot.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http::graph {

/// Maximum number of lines in a plot. Readers could not distinguish more lines, and drawing more
/// lines would occupy a thread for a long time.
inline constexpr size_t kLinesMax = 2000;

/// Returns a plot as a PNG file. The style of the plot contains the size of the image. The memory
/// is charged to `context`. InvalidArgument: the plot has more than kLinesMax lines. IoError: Cairo
/// failed, for example because it had no memory for the bitmap. Also fails if `context` reports an
/// error.
Result<std::string> DrawPng(const Plot& plot, RequestContext& context);

}  // namespace hg::http::graph
