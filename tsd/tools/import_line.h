#pragma once
// Points as lines of text, METRIC TIME VALUE TAGK=TAGV…: what `import` reads and `scan --import`
// prints (spec cli.md §4, §5). Pure.

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"

namespace hg::tsd {

/// A line taken apart; the parts are its bytes. Names, value and tags are not looked at yet.
struct ImportLine {
  std::string_view metric;
  Timestamp time;  // > 0
  std::string_view value;
  std::string_view tags;
};

/// Exactly one blank stands between the first three words, so a second one makes the next word
/// empty. InvalidArgument: no metric, a time that is none, an empty value. Corruption: the line
/// ends with its time, which ends an import whatever it is told about errors (OpenTSDB's
/// TextImporter).
Result<ImportLine> ParseImportLine(std::string_view line);

/// "k=v k=v", blanks between them as many as there are; the same pair twice is one. In the order in
/// which OpenTSDB resolves tags, and so hands out ids (spec schema.md §3.3). InvalidArgument: not a
/// pair, or another value for a key.
Result<std::vector<TagText>> ParseImportTags(std::string_view text);

/// The line of a point, with its end. `tags`: " k=v k=v".
std::string ImportLineText(std::string_view metric, int64_t time, const PointValue& value,
                           std::string_view tags);

}  // namespace hg::tsd
