#pragma once
// Lines of the telnet protocol: splitting into words, and the fast path of `put`
// (opentsdb-http-api.md §19.3).

#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Removes the first line from *bytes and returns it without its LF, and without a CR before the
/// LF. `bytes` ends with LF.
std::string_view TakeLine(std::string_view* bytes);

/// Splits the line at every single blank. Keeps empty words, so there is at least one word.
void SplitWords(std::string_view line, std::vector<std::string_view>* words);

/// The parts of "put METRIC TIME VALUE TAGS", unparsed. SplitPut returns false if a part is
/// missing.
struct PutWords {
  std::string_view metric, time, value, tags;
};
bool SplitPut(std::string_view line, PutWords* words);

/// Parses put lines, each ended by LF, with plain numbers. Names stay unparsed. Returns false if
/// the slow path must parse the lines; *points then has no meaning. If a line has the same tags as
/// the previous line, both refer to the same bytes.
bool ParsePutLines(std::string_view lines, std::vector<KeyedPoint>* points);

}  // namespace hg::http
