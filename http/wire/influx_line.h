#pragma once
// The slow path for InfluxDB line protocol: the whole grammar, with an error message for each
// invalid line.
//
//   measurement[,key=value…] field=value[,field=value…] [time]
//
// In names and tag values, a backslash before ',', '=' or a blank escapes it; any other backslash
// is literal. Values: 1.5, 1e3 (floating point), 1i (integer), 1u (unsigned), t true f false …,
// "text" with \" and \\, which may contain line breaks.

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

/// Maximum number of bytes before the first blank of a line, as in InfluxDB. There is a limit
/// because these bytes are part of the series key of each field.
inline constexpr size_t kInfluxSeriesBytesMax = 65535;
/// Maximum number of fields of one line, including text fields. Agents send far fewer. There is a
/// limit because a line is parsed as a whole, and the error for each field may repeat the tags.
inline constexpr size_t kInfluxFieldsMax = 4096;
/// Maximum number of tags of one line. There is a limit because each key is compared with all
/// previous ones. The limit is far above the tag limit of a series, so lines with too many tags
/// usually get the error for that limit.
inline constexpr size_t kInfluxTagsMax = 256;

/// The unit of the timestamps of a request. The values of the parameter `precision` are "", "n" or
/// "ns" (nanoseconds), "u", "us" or "µ", "ms", "s", "m" (minutes), "h".
enum class InfluxUnit : uint8_t {
  kNanosecond,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour
};
std::optional<InfluxUnit> ParseInfluxUnit(std::string_view precision);

/// Truncates a time to milliseconds and converts it by the rule of TimestampOfMillis. Returns
/// nullopt if the time is outside the valid range.
std::optional<Timestamp> InfluxTime(int64_t time, InfluxUnit unit);

/// Parses the words t T true True TRUE and f F false False FALSE. Returns false for any other
/// text.
bool ParseInfluxBool(std::string_view text, bool* value);

/// Splits a body into lines.
class InfluxLineReader {
 public:
  /// Reads lines from `body`, which must outlive the object. The first line has the number
  /// `first_number`.
  explicit InfluxLineReader(std::string_view body, size_t first_number = 1)
      : rest_(body), next_number_(first_number) {}

  /// Finds the next line. Sets *line to the line without its end and the blanks around it. For a
  /// comment, *line is empty. Returns false if there are no more lines.
  bool Next(std::string_view* line);
  /// Returns the number of the line that Next returned, counted from 1.
  [[nodiscard]] size_t number() const { return number_; }
  /// Returns the number of the line after the one that Next returned.
  [[nodiscard]] size_t next_number() const { return next_number_; }

 private:
  std::string_view rest_;
  size_t number_ = 0, next_number_;
};

struct InfluxField {
  std::string_view raw_name;
  std::string name;
  PointValue value;
};

/// A parsed line. `series`, and raw_name of the fields, are views of its bytes.
struct InfluxLine {
  std::string_view series;  // the text before the first blank
  std::string measurement;
  std::vector<std::pair<std::string, std::string>> tags;  // as written, without duplicate keys
  std::vector<InfluxField> fields;                        // numeric fields, without duplicate names
  size_t text_fields = 0;
  std::optional<int64_t> time;
};

/// Parses a line that has no blanks around it. The message of InvalidArgument describes the error
/// and its place. A name that is longer than a row key may be (codec::kRowKeyBytesMax) is invalid,
/// too.
Status ParseInfluxLine(std::string_view line, InfluxLine* parts);

}  // namespace hg::http
