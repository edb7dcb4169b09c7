#pragma once
// Plots of the query tool (spec cli.md §3, schema.md §18.6): numbers and a script for gnuplot, as
// OpenTSDB leaves them, and the picture itself. Nothing is run.

#include <string>
#include <vector>

#include "http/graph/plot.h"
#include "http/request.h"
#include "storage/base/status.h"

namespace hg::tsd {

/// The plot options of a command line: words "+name=value". InvalidArgument: a word without a
/// value.
Result<http::Parameters> PlotWords(const std::vector<std::string>& words);

/// Writes BASE_0.dat, BASE_1.dat … with a line "seconds value" per point (in the plot's zone),
/// BASE.gnuplot and BASE.png. IoError names the file.
Status WritePlotFiles(const std::string& base, const http::graph::Plot& plot);

/// What is in BASE.gnuplot. `base` and all texts are quoted, whatever they hold.
std::string GnuplotScript(const std::string& base, const http::graph::Plot& plot);

}  // namespace hg::tsd
