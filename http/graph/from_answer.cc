#include "http/graph/from_answer.h"

#include <bit>
#include <cmath>
#include <utility>

namespace hg::http::graph {
namespace {

std::string TitleOf(const query::Group& group) {
  std::string title = group.metric;
  if (group.tags.empty()) return title;
  title += "{";
  for (size_t i = 0; i < group.tags.size(); ++i)
    title += (i > 0 ? ", " : "") + group.tags[i].first + "=" + group.tags[i].second;
  return title + "}";
}

}  // namespace

Plot PlotOf(const query::ValidQuery& query, const query::Answer& answer, Style style,
            query::TimeZone zone, const std::vector<bool>& second_axis) {
  Plot plot;
  plot.begin_ms = query.start_ms;
  plot.end_ms = query.end_ms;
  plot.zone = zone;
  plot.style = std::move(style);
  for (const query::Group& group : answer.groups) {
    Line& line = plot.lines.emplace_back();
    line.title = TitleOf(group);
    line.second_axis = group.query_index < second_axis.size() && second_axis[group.query_index];
    const query::PointColumns& points = group.points;
    line.points.reserve(points.size());
    for (size_t i = 0; i < points.size(); ++i) {
      const double value = points.double_at(i)
                               ? std::bit_cast<double>(points.bits[i])
                               : static_cast<double>(static_cast<int64_t>(points.bits[i]));
      if (std::isfinite(value)) line.points.push_back({points.time_ms[i], value});
    }
  }
  return plot;
}

}  // namespace hg::http::graph
