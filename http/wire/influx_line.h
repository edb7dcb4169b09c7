#pragma once
// Lines of InfluxDB's protocol, the exact way: the whole grammar, and for each bad line the reason.
//
//   measurement[,key=value…] field=value[,field=value…] [time]
//
// In names and values of tags a backslash before ',', '=' or a blank makes it part of the text; any
// other backslash is itself. Values: 1.5, 1e3 (floating point), 1i (integer), 1u (unsigned), t true
// f false …, "text" with \" and \\, which may hold line ends.

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

/// Bytes of what stands before the first blank of a line, as in InfluxDB: each field repeats them.
inline constexpr size_t kInfluxSeriesBytesMax = 65535;
/// Of one line, texts among them; no agent has near as many. A line is taken apart whole, and each
/// refusal of a field may repeat its tags.
inline constexpr size_t kInfluxFieldsMax = 4096;
/// Of one line. Far more than a series may have, so that such lines still learn how many are too
/// many; each key is compared with all before it.
inline constexpr size_t kInfluxTagsMax = 256;

/// What the times of a request count. None: no such precision. "" and "ns" are nanoseconds; n, u,
/// us, µ, ms, s, m (minutes), h.
enum class InfluxUnit : uint8_t {
  kNanosecond,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour
};
std::optional<InfluxUnit> ParseInfluxUnit(std::string_view precision);

/// A time cut to milliseconds (and then as TimestampOfMillis has it). None: not one that is stored.
std::optional<Timestamp> InfluxTime(int64_t time, InfluxUnit unit);

/// t T true True TRUE, f F false False FALSE; false: another text.
bool ParseInfluxBool(std::string_view text, bool* value);

/// Cuts lines off a body.
class InfluxLineReader {
 public:
  /// Borrows the body, whose first line is that of `first_number`.
  explicit InfluxLineReader(std::string_view body, size_t first_number = 1)
      : rest_(body), next_number_(first_number) {}

  /// The next line that is neither empty nor a comment, without its end; false: there is none.
  bool Next(std::string_view* line);
  /// Where the line that Next gave begins, from 1.
  [[nodiscard]] size_t number() const { return number_; }
  /// Of the line behind it.
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

/// A line taken apart; raw parts borrow its bytes.
struct InfluxLine {
  std::string_view series;  // what stands before the first blank
  std::string measurement;
  std::vector<std::pair<std::string, std::string>> tags;  // as written, no key twice
  std::vector<InfluxField> fields;                        // those of numbers; no name twice
  size_t text_fields = 0;
  std::optional<int64_t> time;
};

/// InvalidArgument says what is wrong, and where; also of names longer than a row key can be
/// (codec::kRowKeyBytesMax). `line` has no blanks around it.
Status ParseInfluxLine(std::string_view line, InfluxLine* parts);

}  // namespace hg::http
