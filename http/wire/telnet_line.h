#pragma once
// Lines of the telnet dialect: split into words, and the fast way through `put` (spec http-api.md
// §19.3).

#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// The line without its LF and one CR before it. `bytes` ends with LF.
std::string_view TakeLine(std::string_view* bytes);

/// Splits at every single blank; empty words are kept, so there is at least one.
void SplitWords(std::string_view line, std::vector<std::string_view>* words);

/// The raw parts of "put METRIC TIME VALUE TAGS". False if there are less than these.
struct PutWords {
  std::string_view metric, time, value, tags;
};
bool SplitPut(std::string_view line, PutWords* words);

/// Reads put lines, each ended by LF, whose numbers are plain; the names stay raw. False: the exact
/// way must look at them; *points is then meaningless. Lines whose tags are those of the line
/// before share its bytes.
bool ParsePutLines(std::string_view lines, std::vector<SpelledPoint>* points);

}  // namespace hg::http
