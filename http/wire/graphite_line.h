#pragma once
// Graphite's plaintext: "PATH VALUE TIME", and what a path says. The same of its pickled form is in
// pickle.h.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg::http {

inline constexpr size_t kGraphitePathBytesMax = 8192;

/// A point as Graphite names it.
struct GraphitePoint {
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // no key twice
  Timestamp time;
  PointValue value;
};

/// "metric;key=value;key=value". InvalidArgument: an empty part, a key twice, too long.
Status ReadGraphitePath(std::string_view path, GraphitePoint* point);

/// Whole numbers (of 64 bits) are integers, others doubles. InvalidArgument: no number, or not
/// finite.
Status ReadGraphiteValue(std::string_view text, GraphitePoint* point);

/// Seconds, perhaps with a fraction; -1 and N: `now`. InvalidArgument: none, or not one that is
/// stored.
Status ReadGraphiteTime(std::string_view text, Timestamp now, GraphitePoint* point);
Status SetGraphiteTime(double seconds, Timestamp now, GraphitePoint* point);

/// A line without its end; blanks and tabs between its three words.
Result<GraphitePoint> ParseGraphiteLine(std::string_view line, Timestamp now);

}  // namespace hg::http
