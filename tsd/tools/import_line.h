#pragma once
// Points as lines of text in the form METRIC TIME VALUE TAGK=TAGV…. `import` reads these lines, and
// `scan --import` prints them (opentsdb-tools.md §4, §5). All functions are pure.

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"

namespace hg::tsd {

/// The parts of a line, as views of the line. Names, value and tags were not checked.
struct ImportLine {
  std::string_view metric;
  Timestamp time;  // time of the point; greater than 0
  std::string_view value;
  std::string_view tags;
};

/// Parses a line. The first three words are separated by exactly one blank, so a second blank makes
/// the next word empty. InvalidArgument: the line has no metric, an invalid time, or an empty
/// value. Corruption: the line ends after its time; this error ends an import even with
/// --skip-errors, as in OpenTSDB's TextImporter.
Result<ImportLine> ParseImportLine(std::string_view line);

/// Parses tags in the form "k=v k=v", with any number of blanks between the pairs. If a pair occurs
/// several times, it counts once. The result is in the order in which OpenTSDB resolves tags and
/// assigns ids (opentsdb-schema.md §3.3). InvalidArgument: a word is not a pair, or a key has two
/// values.
Result<std::vector<TagText>> ParseImportTags(std::string_view text);

/// Returns the line for a point, with its newline. `tags` has the form " k=v k=v".
std::string ImportLineText(std::string_view metric, int64_t time, const PointValue& value,
                           std::string_view tags);

}  // namespace hg::tsd
