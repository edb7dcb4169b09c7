#include "http/wire/graphite_line.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "http/wire/plain_number.h"
#include "storage/base/short_bytes.h"
#include "storage/base/status.h"
#include "storage/model/instant.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr size_t kShownPathBytesMax = 200;
constexpr std::string_view kBlanks = " \t\r\v\f";

// Escapes quotes, so that the text cannot end its quotes and forge fields of a line in the log.
std::string QuotedPart(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Shortened(text, kShownPathBytesMax)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string_view TakeWord(std::string_view* rest) {
  rest->remove_prefix(std::min(rest->find_first_not_of(kBlanks), rest->size()));
  const std::string_view word = rest->substr(0, rest->find_first_of(kBlanks));
  rest->remove_prefix(word.size());
  return word;
}

}  // namespace

Status ReadGraphitePath(std::string_view path, GraphiteSeries* series) {
  if (path.size() > kGraphitePathBytesMax)
    return Status::InvalidArgument("the path " + QuotedPart(path) + " is longer than " +
                                   std::to_string(kGraphitePathBytesMax) + " bytes");
  const std::string_view all = path;
  const auto take = [&path] {
    const std::string_view part = path.substr(0, path.find(';'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    return part;
  };
  const bool ends_open = all.ends_with(';');
  std::set<std::string_view> keys;
  series->metric = take();
  series->tags.clear();
  if (series->metric.empty())
    return Status::InvalidArgument("the path " + QuotedPart(all) + " begins without a name");
  while (!path.empty()) {
    const std::string_view tag = take();
    const size_t equals = tag.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == tag.size())
      return Status::InvalidArgument("the tag " + QuotedPart(tag) + " of the path " +
                                     QuotedPart(all) + " is no KEY=VALUE");
    const std::string_view key = tag.substr(0, equals);
    if (!keys.insert(key).second)
      return Status::InvalidArgument("the tag " + QuotedPart(key) + " occurs twice in the path " +
                                     QuotedPart(all));
    series->tags.emplace_back(key, tag.substr(equals + 1));
  }
  if (ends_open) return Status::InvalidArgument("the path " + QuotedPart(all) + " ends with ;");
  return {};
}

RawKey RawKeyOfGraphitePath(std::string_view path) {
  const size_t semicolon = std::min(path.find(';'), path.size());
  return {Dialect::kGraphite, path.substr(0, semicolon), path.substr(semicolon)};
}

Status ReadGraphiteValue(std::string_view text, GraphitePoint* point) {
  NumberError error;
  if (ParseValue(text, EntryPath::kHttp, &point->value, &error)) return {};
  double value = 0;  // for whole numbers that do not fit 64 bits
  if (error.fault == NumberFault::kTooLong || error.fault == NumberFault::kOverflow) {
    if (ParseJavaDouble(text, &value) && std::isfinite(value)) {
      point->value = PointValue::Double(value);
      return {};
    }
  }
  return Status::InvalidArgument("the value " + QuotedPart(text) + " is no finite number");
}

Status ReadGraphiteTime(std::string_view text, Timestamp now, GraphitePoint* point) {
  double seconds = 0;
  if (text == "N") {
    seconds = -1;
  } else if (!ParseJavaDouble(text, &seconds)) {
    return Status::InvalidArgument("the time " + QuotedPart(text) + " is no number");
  }
  return SetGraphiteTime(seconds, now, point);
}

Status SetGraphiteTime(double seconds, Timestamp now, GraphitePoint* point) {
  if (seconds == -1) {
    point->time = now;
    return {};
  }
  // A double that holds seconds is not exact for most milliseconds, so a value slightly below a
  // whole millisecond is rounded up.
  constexpr auto kMillisMax = static_cast<double>(kInstantMaxMs);
  const double ms = std::floor(seconds * 1000 + 0.001);
  const auto time = ms >= 0 && ms <= kMillisMax ? TimestampOfMillis(static_cast<int64_t>(ms))
                                                : std::optional<Timestamp>();
  if (!time) return BadInstant(JavaDouble(seconds) + " s");
  point->time = *time;
  return {};
}

Result<GraphitePoint> ParseGraphiteLine(std::string_view line, Timestamp now) {
  std::string_view rest = line;
  const std::string_view path = TakeWord(&rest), value = TakeWord(&rest), time = TakeWord(&rest);
  if (time.empty() || !TakeWord(&rest).empty())
    return Status::InvalidArgument(QuotedPart(line) + " is no PATH VALUE TIME");
  GraphiteSeries series;
  RETURN_IF_ERROR(ReadGraphitePath(path, &series));
  GraphitePoint point;
  point.path = path;
  RETURN_IF_ERROR(ReadGraphiteValue(value, &point));
  RETURN_IF_ERROR(ReadGraphiteTime(time, now, &point));
  return point;
}

bool TakePlainGraphiteLine(std::string_view* rest, GraphitePoint* point) {
  const char* const begin = rest->data();
  const char* const end = begin + rest->size();
  const char* const path_end = FindBlank(begin, end);
  const auto path_bytes = static_cast<size_t>(path_end - begin);
  if (path_end == end || *path_end != ' ' || path_bytes == 0 ||
      path_bytes > kGraphitePathBytesMax) {
    return false;
  }
  const char* const value = path_end + 1;
  const char* const value_end = FindBlank(value, end);
  if (value_end == end || *value_end != ' ') return false;
  const char* const time = value_end + 1;
  const char* const time_end = FindBlank(time, end);
  const char* line_end = time_end;
  if (line_end != end && *line_end == '\r') ++line_end;
  if (line_end == end || *line_end != '\n') return false;
  if (!ParsePlainValue({value, static_cast<size_t>(value_end - value)}, EntryPath::kHttp,
                       &point->value) ||
      !ParsePlainTime({time, static_cast<size_t>(time_end - time)}, &point->time) ||
      point->time.is_millis()) {
    return false;
  }
  point->path = {begin, path_bytes};
  rest->remove_prefix(static_cast<size_t>(line_end + 1 - begin));
  return true;
}

}  // namespace hg::http
