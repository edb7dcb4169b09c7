#pragma once
// Plots of the query tool (opentsdb-tools.md §3, opentsdb-schema.md §18.6): data files and a
// gnuplot script as OpenTSDB writes them, and an image. The image is drawn without gnuplot.

#include <string>
#include <vector>

#include "http/graph/plot.h"
#include "http/request/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// Returns the plot options of a command line, which are words of the form "+name=value".
/// InvalidArgument: a word without a value.
Result<http::Parameters> PlotWords(const std::vector<std::string>& words);

/// Writes BASE_0.dat, BASE_1.dat and so on with a line "seconds value" per point (in the time zone
/// of the plot), BASE.gnuplot and BASE.png. IoError names the file.
Status WritePlotFiles(const std::string& base, const http::graph::Plot& plot);

/// Returns the content of BASE.gnuplot. `base` and all texts are quoted.
std::string GnuplotScript(const std::string& base, const http::graph::Plot& plot);

}  // namespace hg::tsd
