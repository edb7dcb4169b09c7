#pragma once
// Graphite's plaintext: "PATH VALUE TIME", and what a path says. The same of its pickled form is in
// pickle.h.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"

namespace hg::http {

inline constexpr size_t kGraphitePathBytesMax = 8192;

/// A point as Graphite writes it. Borrowed.
struct GraphitePoint {
  std::string_view path;
  Timestamp time;
  PointValue value;
};

/// What a path says.
struct GraphiteSeries {
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // no key twice
};

/// "metric;key=value;key=value". InvalidArgument: an empty part, a key twice, too long.
Status ReadGraphitePath(std::string_view path, GraphiteSeries* series);

/// The bytes by which the series of a path is known the next time (Dialect::kGraphite);
/// GraphitePath puts them together again.
Spelling SpellGraphitePath(std::string_view path);
inline std::string_view GraphitePath(const Spelling& spelling) {
  return {spelling.metric.data(), spelling.metric.size() + spelling.tags.size()};
}

/// Whole numbers (of 64 bits) are integers, others doubles. InvalidArgument: no number, or not
/// finite.
Status ReadGraphiteValue(std::string_view text, GraphitePoint* point);

/// Seconds, perhaps with a fraction; -1 and N: `now`. InvalidArgument: none, or not one that is
/// stored.
Status ReadGraphiteTime(std::string_view text, Timestamp now, GraphitePoint* point);
Status SetGraphiteTime(double seconds, Timestamp now, GraphitePoint* point);

/// A line without its end; blanks and tabs between its three words. What it says is judged in their
/// order, the path too.
Result<GraphitePoint> ParseGraphiteLine(std::string_view line, Timestamp now);

/// Takes a line and its LF off the front of *rest: one blank between the words, plain numbers,
/// whole seconds. What it takes ParseGraphiteLine takes, too, if the path is good, of which only
/// the length is looked at here. False: there is none, or another one.
bool TakePlainGraphiteLine(std::string_view* rest, GraphitePoint* point);

}  // namespace hg::http
