#pragma once
// Parses Graphite's plaintext protocol, whose lines are "PATH VALUE TIME", and Graphite paths. The
// pickle protocol is in pickle.h.

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

/// A point of a Graphite protocol. The path of the point is a view of the received bytes.
struct GraphitePoint {
  std::string_view path;
  Timestamp time;
  PointValue value;
};

/// The metric and the tags of a path.
struct GraphiteSeries {
  std::string metric;
  /// Tags of the path; each key occurs only once.
  std::vector<std::pair<std::string, std::string>> tags;
};

/// Splits a path such as "metric;key=value;key=value". InvalidArgument: a part of the path is
/// empty, a key occurs twice, or the path is too long.
Status ReadGraphitePath(std::string_view path, GraphiteSeries* series);

/// Returns the raw series key of a path (Dialect::kGraphite). The store finds known series by this
/// key. GraphitePath converts such a key back to the path. The key and the path refer to the same
/// bytes.
RawKey RawKeyOfGraphitePath(std::string_view path);
inline std::string_view GraphitePath(const RawKey& raw_key) {
  return {raw_key.metric.data(), raw_key.metric.size() + raw_key.tags.size()};
}

/// Parses a value, and sets point->value. A whole number that fits into 64 bits becomes an integer;
/// any other number becomes a double. InvalidArgument: the text is not a number, or the number is
/// not finite.
Status ReadGraphiteValue(std::string_view text, GraphitePoint* point);

/// Parses a time in seconds, with or without a fraction, and sets point->time. The texts "-1" and
/// "N" mean `now`. SetGraphiteTime does the same for a time that is already a number.
/// InvalidArgument: the text is not a number, or the time is outside the valid range.
Status ReadGraphiteTime(std::string_view text, Timestamp now, GraphitePoint* point);
Status SetGraphiteTime(double seconds, Timestamp now, GraphitePoint* point);

/// Parses a line without its line end. Blanks and tabs separate the three words of a line. Errors
/// are checked in the order of the words, so an error in the path is returned before other errors.
Result<GraphitePoint> ParseGraphiteLine(std::string_view line, Timestamp now);

/// Removes one line with its LF from the front of *rest, and parses the line. The line must have
/// single blanks between its words, plain numbers, and a time in whole seconds. The function checks
/// only the length of the path. If the path is valid, the result is the same as that of
/// ParseGraphiteLine. Returns false if *rest contains no whole line, or if its first line has
/// another form.
bool TakePlainGraphiteLine(std::string_view* rest, GraphitePoint* point);

}  // namespace hg::http
