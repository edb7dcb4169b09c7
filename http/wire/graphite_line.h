#pragma once
// Graphite's plaintext protocol, "PATH VALUE TIME", and the parsing of paths. The pickle protocol
// is in pickle.h.

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

/// A point of a Graphite protocol. Its path is a view of the received bytes.
struct GraphitePoint {
  std::string_view path;
  Timestamp time;
  PointValue value;
};

/// The metric and the tags of a path.
struct GraphiteSeries {
  std::string metric;
  std::vector<std::pair<std::string, std::string>> tags;  // no duplicate keys
};

/// Splits a path "metric;key=value;key=value". InvalidArgument: a part is empty, a key occurs
/// twice, or the path is too long.
Status ReadGraphitePath(std::string_view path, GraphiteSeries* series);

/// Returns the raw series key of a path (Dialect::kGraphite), with which known series are found.
/// GraphitePath converts the key back.
RawKey RawKeyOfGraphitePath(std::string_view path);
inline std::string_view GraphitePath(const RawKey& raw_key) {
  return {raw_key.metric.data(), raw_key.metric.size() + raw_key.tags.size()};
}

/// Parses a value. Whole numbers that fit in 64 bits become integers; all other numbers become
/// doubles. InvalidArgument: the text is not a number, or the number is not finite.
Status ReadGraphiteValue(std::string_view text, GraphitePoint* point);

/// Parses a time in seconds, with or without a fraction; -1 and N mean `now`. InvalidArgument: the
/// text is not a number, or the time is outside the valid range.
Status ReadGraphiteTime(std::string_view text, Timestamp now, GraphitePoint* point);
Status SetGraphiteTime(double seconds, Timestamp now, GraphitePoint* point);

/// Parses a line without its end. Blanks and tabs separate its three words. Errors are checked in
/// the order of the words, so an error in the path is returned first.
Result<GraphitePoint> ParseGraphiteLine(std::string_view line, Timestamp now);

/// Removes one line with its LF from the front of *rest, if the line has single blanks, plain
/// numbers and whole seconds. If the path is valid, ParseGraphiteLine returns the same result for
/// such a line; this function checks only the length of the path. Returns false if *rest contains
/// no whole line, or if its first line has another form.
bool TakePlainGraphiteLine(std::string_view* rest, GraphitePoint* point);

}  // namespace hg::http
