#include "tsd/tools/query_graph.h"

#include <array>
#include <cstdio>
#include <fstream>

#include "http/graph/draw.h"
#include "storage/model/number_text.h"

namespace hg::tsd {
namespace {

using http::graph::Line;
using http::graph::Plot;
using http::graph::ValueAxis;

/// Returns a gnuplot string in which only the quote has a special meaning.
std::string GnuplotText(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += '\'';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  return out + "'";
}

int64_t ZoneSeconds(const Plot& plot, int64_t time_ms) { return plot.zone.ToLocal(time_ms) / 1000; }

std::string DataPath(const std::string& base, size_t line) {
  return base + "_" + std::to_string(line) + ".dat";
}

std::string Number(double value) {
  std::string text;
  AppendJavaDouble(&text, value);
  return text;
}

void AppendAxis(const ValueAxis& axis, const std::string& name, std::string* script) {
  if (axis.low || axis.high)
    *script += "set " + name + "range [" + (axis.low ? Number(*axis.low) : "*") + ":" +
               (axis.high ? Number(*axis.high) : "*") + "]\n";
  if (!axis.label.empty()) *script += "set " + name + "label " + GnuplotText(axis.label) + "\n";
  if (!axis.format.empty()) *script += "set format " + name + " " + GnuplotText(axis.format) + "\n";
  if (axis.logarithmic) *script += "set logscale " + name + "\n";
}

std::string ColorText(http::graph::Color color) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "\"#%02X%02X%02X\"", color.red, color.green, color.blue);
  return text.data();
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) return {};
  return Status::IoError("cannot write " + path);
}

}  // namespace

Result<http::Parameters> PlotWords(const std::vector<std::string>& words) {
  http::Parameters parameters;
  for (const std::string& word : words) {
    if (!word.starts_with('+')) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos)
      return Status::InvalidArgument("the plot option " + word + " has no value");
    parameters.Add(word.substr(1, equals - 1), word.substr(equals + 1));
  }
  return parameters;
}

std::string GnuplotScript(const std::string& base, const Plot& plot) {
  const http::graph::Style& style = plot.style;
  const int64_t begin_s = ZoneSeconds(plot, plot.begin_ms);
  const int64_t end_s = ZoneSeconds(plot, plot.end_ms);
  std::string script =
      "set terminal png size " + std::to_string(style.width) + "," + std::to_string(style.height);
  if (style.background) script += " background " + ColorText(*style.background);
  script += "\nset output " + GnuplotText(base + ".png") +
            "\nset xdata time\nset timefmt '%s'\nset grid\nset format x " +
            (end_s - begin_s < 86400        ? "'%H:%M'"
             : end_s - begin_s < 60 * 86400 ? "'%m/%d %H:%M'"
                                            : "'%Y/%m/%d'") +
            "\nset xrange ['" + std::to_string(begin_s) + "':'" + std::to_string(end_s) + "']\n";
  if (!style.title.empty()) script += "set title " + GnuplotText(style.title) + "\n";
  if (!style.legend.shown) script += "unset key\n";
  AppendAxis(style.left, "y", &script);
  AppendAxis(style.right, "y2", &script);
  for (const Line& line : plot.lines)
    if (line.second_axis) {
      script += "set y2tics\n";
      break;
    }
  if (plot.lines.empty())
    return script + "set label 'No data' at graph 0.5,0.5 center\nplot 0 notitle\n";
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    script += (i == 0 ? "plot " : ", \\\n     ") + GnuplotText(DataPath(base, i)) +
              " using 1:2 with lines title " + GnuplotText(plot.lines[i].title);
    if (plot.lines[i].second_axis) script += " axes x1y2";
  }
  return script + "\n";
}

Status WritePlotFiles(const std::string& base, const Plot& plot) {
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    std::string text;
    for (const http::graph::Point& point : plot.lines[i].points)
      text += std::to_string(ZoneSeconds(plot, point.time_ms)) + " " + Number(point.value) + "\n";
    RETURN_IF_ERROR(WriteFile(DataPath(base, i), text));
  }
  RETURN_IF_ERROR(WriteFile(base + ".gnuplot", GnuplotScript(base, plot)));
  ASSIGN_OR_RETURN(const std::string picture,
                   http::graph::DrawPng(plot, RequestContext::Unlimited()));
  return WriteFile(base + ".png", picture);
}

}  // namespace hg::tsd
