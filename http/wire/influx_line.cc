#include "http/wire/influx_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "storage/base/status.h"
#include "storage/codec/row_key.h"
#include "storage/model/instant.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr size_t kShownBytesMax = 100;

std::string Quoted(std::string_view text) { return "\"" + Shortened(text, kShownBytesMax) + "\""; }

bool IsSpecial(char c) { return c == ',' || c == '=' || c == ' '; }

/// The characters that end a text. A blank always ends a text.
enum class Stops { kBlank, kComma, kCommaAndEquals };

/// Returns the length of `text` before the first unescaped character of `stops`, or its whole
/// length.
size_t FindStop(std::string_view text, Stops stops) {
  const char comma = stops == Stops::kBlank ? ' ' : ',';
  const char equals = stops == Stops::kCommaAndEquals ? '=' : ' ';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      if (i + 1 < text.size() && IsSpecial(text[i + 1])) ++i;
    } else if (c == ' ' || c == comma || c == equals) {
      return i;
    }
  }
  return text.size();
}

/// Removes backslashes before special characters. A text that is too long for any name is returned
/// with its backslashes, because it will be refused for its length.
std::string Unescaped(std::string_view text) {
  if (text.size() > 2 * codec::kRowKeyBytesMax) return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && IsSpecial(text[i + 1])) ++i;
    out += text[i];
  }
  return out;
}

std::string_view Take(std::string_view* rest, size_t size) {
  const std::string_view taken = rest->substr(0, size);
  rest->remove_prefix(size);
  return taken;
}

void SkipBlanks(std::string_view* rest) {
  rest->remove_prefix(std::min(rest->find_first_not_of(' '), rest->size()));
}

/// Returns the length of the quoted text at the front of `text`, or npos if the closing quote is
/// missing.
size_t QuotedLength(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// Returns the end of a line that is not a comment. A quoted text without a closing quote ends at
/// the first line break, so that it does not affect other lines.
size_t LineEnd(std::string_view text) {
  const size_t first_end = std::min(text.find('\n'), text.size());
  size_t at = FindStop(text.substr(0, first_end), Stops::kBlank);
  while (at < text.size() && text[at] != '\n') {
    if (text[at] == '\\' && at + 1 < text.size() && IsSpecial(text[at + 1])) {
      at += 2;
      continue;
    }
    if (text[at] != '=' || text.substr(at + 1, 1) != "\"") {
      ++at;
      continue;
    }
    const size_t length = QuotedLength(text.substr(at + 1));
    if (length == std::string_view::npos) return std::min(text.find('\n', at), text.size());
    at += 1 + length;
  }
  return at;
}

/// Checks the length of a measurement, field …, named by `what`. Longer names cannot be stored, and
/// each point repeats them.
Status CheckLength(std::string_view what, std::string_view name) {
  if (name.size() <= codec::kRowKeyBytesMax) return {};
  return Status::InvalidArgument("the " + std::string(what) + " " + Quoted(name) + " has " +
                                 std::to_string(name.size()) + " bytes, at most " +
                                 std::to_string(codec::kRowKeyBytesMax));
}

/// Returns an error if there are already `count_max` items, which `what` names.
Status CheckCount(std::string_view what, size_t count, size_t count_max) {
  if (count < count_max) return {};
  return Status::InvalidArgument("more than " + std::to_string(count_max) + " " +
                                 std::string(what));
}

Status NoNumber(std::string_view token) {
  return Status::InvalidArgument(Quoted(token) +
                                 " is neither a number nor true, false or a text in quotes");
}

Result<PointValue> Integer(std::string_view token) {
  const char* const end = token.data() + token.size() - 1;  // before the suffix i or u
  const bool is_unsigned = *end == 'u';
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(token.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end || (is_unsigned && token[0] == '-'))
    return NoNumber(token);
  if (error != std::errc())
    return Status::InvalidArgument(Quoted(token) + " is beyond the integers that are stored, " +
                                   "-9223372036854775808 to 9223372036854775807");
  return PointValue::Int(value);
}

bool IsFloating(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  const auto digits = [&token] {
    const size_t count = std::min(token.find_first_not_of("0123456789"), token.size());
    token.remove_prefix(count);
    return count;
  };
  size_t count = digits();
  if (token.starts_with('.')) {
    token.remove_prefix(1);
    count += digits();
  }
  if (count == 0) return false;
  if (token.empty()) return true;
  if (token[0] != 'e' && token[0] != 'E') return false;
  token.remove_prefix(1);
  if (token.starts_with('+') || token.starts_with('-')) token.remove_prefix(1);
  return digits() > 0 && token.empty();
}

Result<PointValue> FieldValue(std::string_view token) {
  if (bool truth = false; ParseInfluxBool(token, &truth)) return PointValue::Int(truth ? 1 : 0);
  if (token.size() > 1 && (token.back() == 'i' || token.back() == 'u')) return Integer(token);
  double value = 0;
  if (!IsFloating(token) || !ParseJavaDouble(token, &value)) return NoNumber(token);
  if (!std::isfinite(value))
    return Status::InvalidArgument(Quoted(token) + " is beyond the range of a double");
  return PointValue::Double(value);
}

Status ReadTags(std::string_view* rest, InfluxLine* parts) {
  while (rest->starts_with(',')) {
    rest->remove_prefix(1);
    RETURN_IF_ERROR(CheckCount("tags", parts->tags.size(), kInfluxTagsMax));
    const std::string_view key = Take(rest, FindStop(*rest, Stops::kCommaAndEquals));
    if (key.empty()) return Status::InvalidArgument("a tag has no key");
    if (!rest->starts_with('='))
      return Status::InvalidArgument("the tag " + Quoted(key) + " has no value");
    rest->remove_prefix(1);
    const std::string_view value = Take(rest, FindStop(*rest, Stops::kCommaAndEquals));
    if (value.empty()) return Status::InvalidArgument("the tag " + Quoted(key) + " has no value");
    if (rest->starts_with('='))
      return Status::InvalidArgument("a second = in the tag " + Quoted(key) +
                                     ": in a value it is written \\=");
    std::string name = Unescaped(key), text = Unescaped(value);
    RETURN_IF_ERROR(CheckLength("tag key", name));
    RETURN_IF_ERROR(CheckLength("tag value", text));
    for (const auto& [other, unused] : parts->tags)
      if (other == name) return Status::InvalidArgument("the tag " + Quoted(key) + " occurs twice");
    parts->tags.emplace_back(std::move(name), std::move(text));
  }
  return {};
}

Status ReadField(std::string_view* rest, InfluxLine* parts) {
  RETURN_IF_ERROR(
      CheckCount("fields", parts->fields.size() + parts->text_fields, kInfluxFieldsMax));
  const std::string_view raw_name = Take(rest, FindStop(*rest, Stops::kCommaAndEquals));
  if (raw_name.empty()) return Status::InvalidArgument("a field has no name");
  const std::string field = "the field " + Quoted(raw_name);
  if (!rest->starts_with('=')) return Status::InvalidArgument(field + " has no value");
  rest->remove_prefix(1);
  if (rest->starts_with('"')) {
    const size_t length = QuotedLength(*rest);
    if (length == std::string_view::npos)
      return Status::InvalidArgument(field + " has a string value without a closing quote");
    rest->remove_prefix(length);
    ++parts->text_fields;
  } else {
    const std::string_view token = Take(rest, std::min(rest->find_first_of(", "), rest->size()));
    if (token.empty()) return Status::InvalidArgument(field + " has no value");
    Result<PointValue> value = FieldValue(token);
    if (!value.ok()) return Prepend(value.status(), field);
    std::string name = Unescaped(raw_name);
    RETURN_IF_ERROR(CheckLength("field", name));
    parts->fields.push_back({raw_name, std::move(name), *value});
  }
  if (!rest->empty() && (*rest)[0] != ',' && (*rest)[0] != ' ')
    return Status::InvalidArgument("behind " + field + ": " + Quoted(*rest));
  return {};
}

Status CheckTwice(const std::vector<InfluxField>& fields) {
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const InfluxField& field : fields) names.push_back(field.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return Status::InvalidArgument("the field " + Quoted(*twice) + " occurs twice");
}

}  // namespace

std::optional<InfluxUnit> ParseInfluxUnit(std::string_view precision) {
  constexpr std::pair<std::string_view, InfluxUnit> kUnits[] = {
      {"", InfluxUnit::kNanosecond},    {"ns", InfluxUnit::kNanosecond},
      {"n", InfluxUnit::kNanosecond},   {"us", InfluxUnit::kMicrosecond},
      {"u", InfluxUnit::kMicrosecond},  {"µ", InfluxUnit::kMicrosecond},
      {"ms", InfluxUnit::kMillisecond}, {"s", InfluxUnit::kSecond},
      {"m", InfluxUnit::kMinute},       {"h", InfluxUnit::kHour},
  };
  for (const auto& [name, unit] : kUnits)
    if (name == precision) return unit;
  return std::nullopt;
}

std::optional<Timestamp> InfluxTime(int64_t time, InfluxUnit unit) {
  const auto times = [time](int64_t ms) -> std::optional<Timestamp> {
    if (time > kInstantMaxMs / ms) return std::nullopt;
    return TimestampOfMillis(time * ms);
  };
  if (time < 0) return std::nullopt;
  switch (unit) {
    case InfluxUnit::kNanosecond:
      return TimestampOfMillis(time / 1'000'000);
    case InfluxUnit::kMicrosecond:
      return TimestampOfMillis(time / 1'000);
    case InfluxUnit::kMillisecond:
      return TimestampOfMillis(time);
    case InfluxUnit::kSecond:
      return times(1'000);
    case InfluxUnit::kMinute:
      return times(60'000);
    case InfluxUnit::kHour:
      return times(3'600'000);
  }
  return std::nullopt;
}

bool ParseInfluxBool(std::string_view text, bool* value) {
  constexpr std::pair<std::string_view, bool> kWords[] = {
      {"t", true},  {"T", true},  {"true", true},   {"True", true},   {"TRUE", true},
      {"f", false}, {"F", false}, {"false", false}, {"False", false}, {"FALSE", false}};
  for (const auto& [word, truth] : kWords) {
    if (text != word) continue;
    *value = truth;
    return true;
  }
  return false;
}

bool InfluxLineReader::Next(std::string_view* line) {
  if (rest_.empty()) return false;
  number_ = next_number_;
  const size_t first = std::min(rest_.find_first_not_of(' '), rest_.size());
  const bool comment = rest_.substr(first, 1) == "#";
  const size_t end =
      comment ? std::min(rest_.find('\n'), rest_.size()) : first + LineEnd(rest_.substr(first));
  std::string_view taken = Take(&rest_, end);
  next_number_ += 1 + static_cast<size_t>(std::count(taken.begin(), taken.end(), '\n'));
  rest_.remove_prefix(std::min<size_t>(1, rest_.size()));
  if (taken.ends_with('\r')) taken.remove_suffix(1);
  SkipBlanks(&taken);
  *line = comment ? std::string_view() : taken;
  return true;
}

Status ParseInfluxLine(std::string_view line, InfluxLine* parts) {
  *parts = {};
  std::string_view rest = line;
  const std::string_view measurement = Take(&rest, FindStop(rest, Stops::kComma));
  if (measurement.empty()) return Status::InvalidArgument("the line begins without a measurement");
  parts->measurement = Unescaped(measurement);
  RETURN_IF_ERROR(CheckLength("measurement", parts->measurement));
  RETURN_IF_ERROR(ReadTags(&rest, parts));
  parts->series = line.substr(0, line.size() - rest.size());
  if (parts->series.size() > kInfluxSeriesBytesMax)
    return Status::InvalidArgument("measurement and tags have " +
                                   std::to_string(parts->series.size()) + " bytes, at most " +
                                   std::to_string(kInfluxSeriesBytesMax));
  SkipBlanks(&rest);
  if (rest.empty()) return Status::InvalidArgument("the line has no fields");
  RETURN_IF_ERROR(ReadField(&rest, parts));
  while (rest.starts_with(',')) {
    rest.remove_prefix(1);
    RETURN_IF_ERROR(ReadField(&rest, parts));
  }
  RETURN_IF_ERROR(CheckTwice(parts->fields));
  SkipBlanks(&rest);
  if (rest.empty()) return {};
  const std::string_view time = Take(&rest, std::min(rest.find(' '), rest.size()));
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(time.data(), time.data() + time.size(), number);
  if (error != std::errc() || stop != time.data() + time.size())
    return Status::InvalidArgument(Quoted(time) + " is no time");
  SkipBlanks(&rest);
  if (!rest.empty()) return Status::InvalidArgument("behind the time: " + Quoted(rest));
  parts->time = number;
  return {};
}

}  // namespace hg::http
