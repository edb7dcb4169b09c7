#pragma once
// Plots of the query tool (opentsdb-tools.md §3, opentsdb-schema.md §18.6). The tool writes data
// files and a gnuplot script as OpenTSDB does, and an image. The image is drawn without gnuplot.

#include <string>
#include <vector>

#include "http/graph/plot.h"
#include "http/request/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// Returns the plot options of a command line. A plot option is a word of the form "+name=value".
/// InvalidArgument: a word has no value.
Result<http::Parameters> PlotWords(const std::vector<std::string>& words);

/// Writes the files of a plot: BASE_0.dat, BASE_1.dat and so on, BASE.gnuplot and BASE.png. A .dat
/// file has one line "seconds value" for each point (in the time zone of the plot). IoError: a file
/// cannot be written; the message contains its name.
Status WritePlotFiles(const std::string& base, const http::graph::Plot& plot);

/// Returns the content of BASE.gnuplot. The script contains `base` and all texts in quotes.
std::string GnuplotScript(const std::string& base, const http::graph::Plot& plot);

}  // namespace hg::tsd
