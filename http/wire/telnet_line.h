#pragma once
// Parses lines of the telnet protocol: splits lines into words, and contains the fast path of `put`
// (opentsdb-http-api.md §19.3).

#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Removes the first line from *bytes and returns this line without its LF, and without a CR before
/// the LF. *bytes must end with LF.
std::string_view TakeLine(std::string_view* bytes);

/// Splits the line at every blank. Two blanks in sequence give an empty word, so the result has at
/// least one word.
void SplitWords(std::string_view line, std::vector<std::string_view>* words);

/// The words of a line "put METRIC TIME VALUE TAGS", before they are parsed. SplitPut returns false
/// if a word is missing.
struct PutWords {
  std::string_view metric, time, value, tags;
};
bool SplitPut(std::string_view line, PutWords* words);

/// Parses put lines that end with LF and whose numbers have a plain form. Names are not parsed.
/// Returns false if the slow path must parse the lines; *points then has no meaning. If a line has
/// the same tags as the previous line, both points refer to the same bytes.
bool ParsePutLines(std::string_view lines, std::vector<KeyedPoint>* points);

}  // namespace hg::http
