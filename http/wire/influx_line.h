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

/// Maximum bytes before the first blank of a line, as in InfluxDB. It is limited because the series
/// key of each field repeats these bytes.
inline constexpr size_t kInfluxSeriesBytesMax = 65535;
/// Maximum fields of one line, text fields included; agents send far fewer. It is limited because a
/// line is parsed as a whole and each field's error may repeat its tags.
inline constexpr size_t kInfluxFieldsMax = 4096;
/// Maximum tags of one line. It is limited because each key is compared with all previous ones. It
/// is far above the tag limit of a series, so that lines with too many tags get the error for that
/// limit.
inline constexpr size_t kInfluxTagsMax = 256;

/// The unit of the timestamps of a request. The parameter `precision` names it: "", "n" or "ns"
/// (nanoseconds), "u", "us" or "µ", "ms", "s", "m" (minutes), "h".
enum class InfluxUnit : uint8_t {
  kNanosecond,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour
};
std::optional<InfluxUnit> ParseInfluxUnit(std::string_view precision);

/// Converts a time, truncated to milliseconds, to a timestamp by the rule of TimestampOfMillis.
/// nullopt: the time is outside the valid range.
std::optional<Timestamp> InfluxTime(int64_t time, InfluxUnit unit);

/// Accepts the words t T true True TRUE and f F false False FALSE. Returns false for any other
/// text.
bool ParseInfluxBool(std::string_view text, bool* value);

/// Splits a body into lines.
class InfluxLineReader {
 public:
  /// Reads from `body`, which must outlive the object. The first line has the number
  /// `first_number`.
  explicit InfluxLineReader(std::string_view body, size_t first_number = 1)
      : rest_(body), next_number_(first_number) {}

  /// Finds the next line. Sets *line to it, without its end and the blanks around it; a comment
  /// gives an empty line. Returns false if there are no more lines.
  bool Next(std::string_view* line);
  /// The number of the line that Next returned, from 1.
  [[nodiscard]] size_t number() const { return number_; }
  /// The number of the line after the one that Next returned.
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

/// A parsed line. `series`, and raw_name of fields, borrow its bytes.
struct InfluxLine {
  std::string_view series;  // the text before the first blank
  std::string measurement;
  std::vector<std::pair<std::string, std::string>> tags;  // as written; no duplicate keys
  std::vector<InfluxField> fields;                        // numeric fields; no duplicate names
  size_t text_fields = 0;
  std::optional<int64_t> time;
};

/// Parses a line that has no blanks around it. The message of InvalidArgument says what is wrong
/// and where. Names that are longer than a row key can be (codec::kRowKeyBytesMax) are invalid,
/// too.
Status ParseInfluxLine(std::string_view line, InfluxLine* parts);

}  // namespace hg::http
