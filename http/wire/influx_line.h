#pragma once
// The slow path for InfluxDB line protocol. It parses the whole grammar, and returns an error
// message for each invalid line. A line has the form
//
//   measurement[,key=value…] field=value[,field=value…] [time]
//
// In names and tag values, a backslash before ',', '=' or a blank escapes this character; any other
// backslash is literal. Values of fields: 1.5 and 1e3 (floating point), 1i (integer), 1u
// (unsigned), t true f false …, and "text" with the escapes \" and \\, which may contain line
// breaks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg::http {

/// The maximum number of bytes of the measurement and the tags of a line together, as in InfluxDB.
/// The limit is needed because these bytes are a part of the raw series key of each field.
inline constexpr size_t kInfluxSeriesBytesMax = 65535;
/// The maximum number of fields of one line, including text fields. Agents send far fewer fields.
/// The limit is needed because a line is parsed as a whole, and the error for each field may repeat
/// the tags.
inline constexpr size_t kInfluxFieldsMax = 4096;
/// The maximum number of tags of one line. The limit is needed because each key is compared with
/// all previous keys. It is far above the tag limit of a series, so a line with too many tags
/// usually gets the error for the tag limit of a series.
inline constexpr size_t kInfluxTagsMax = 256;

/// The unit of the timestamps of a request, which the parameter `precision` selects. The values of
/// this parameter are: "", "n" or "ns" (nanoseconds); "u", "us" or "µ" (microseconds); "ms"; "s";
/// "m" (minutes); "h".
enum class InfluxUnit : uint8_t {
  kNanosecond,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour
};
std::optional<InfluxUnit> ParseInfluxUnit(std::string_view precision);

/// Truncates a time to milliseconds, and converts it as TimestampOfMillis does. Returns nullopt if
/// the time is outside the valid range.
std::optional<Timestamp> InfluxTime(int64_t time, InfluxUnit unit);

/// Parses the words t, T, true, True and TRUE as true, and f, F, false, False and FALSE as false.
/// Returns false for any other text.
bool ParseInfluxBool(std::string_view text, bool* value);

/// Splits a body in line protocol into lines.
class InfluxLineReader {
 public:
  /// Reads lines from `body`, which must outlive the object. The first line has the number
  /// `first_number`.
  explicit InfluxLineReader(std::string_view body, size_t first_number = 1)
      : rest_(body), next_number_(first_number) {}

  /// Finds the next line. Sets *line to the line, without its line end and without the blanks at
  /// its beginning. If the line is a comment, *line is empty. Returns false if there are no more
  /// lines.
  bool Next(std::string_view* line);
  /// Returns the number of the line that Next has returned last. Lines are counted from 1.
  [[nodiscard]] size_t number() const { return number_; }
  /// Returns the number of the line that follows the line that Next has returned last.
  [[nodiscard]] size_t next_number() const { return next_number_; }

 private:
  std::string_view rest_;
  size_t number_ = 0, next_number_;
};

struct InfluxField {
  std::string_view raw_name;  // name of the field as the client wrote it
  std::string name;           // name of the field, without escapes
  PointValue value;
};

/// A parsed line. `series`, and `raw_name` of the fields, are views of the bytes of the line.
struct InfluxLine {
  std::string_view series;  // the text of the measurement and the tags, as the client wrote it
  std::string measurement;
  /// The tags, without escapes, in the order of the line. Each key occurs only once.
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<InfluxField> fields;  // numeric fields; each name occurs only once
  size_t text_fields = 0;           // number of fields whose value is text
  std::optional<int64_t> time;      // time in the unit of the request; nullopt = absent
};

/// Parses a line. The line must not begin with a blank. The message of InvalidArgument describes
/// the error and its place. A name that is longer than codec::kRowKeyBytesMax, the maximum length
/// of a row key, is also invalid.
Status ParseInfluxLine(std::string_view line, InfluxLine* parts);

}  // namespace hg::http
