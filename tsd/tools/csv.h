#pragma once
// Points as comma-separated values (RFC 4180), for `import --csv` and `export`: the first row names
// the columns, `metric`, `time` and `value`; every other column is a tag, and an empty cell of it
// means that the series has none. `tag:` before the name of a column is none of its key: so a tag
// may have the name of one of the three.

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"
#include "tsd/tools/line_source.h"

namespace hg::tsd {

/// Bytes of one row, whose texts may hold line ends.
inline constexpr size_t kCsvRowBytesMax = 1048576;

/// Reads rows. One thread at a time.
class CsvReader {
 public:
  /// Borrows the lines.
  explicit CsvReader(LineSource& lines) : lines_(lines) {}

  /// The next row that is not empty; false at the end. InvalidArgument: quotes that do not match, a
  /// row too long; the next call goes on behind. Fails as LineSource::Next, too.
  Result<bool> Next(std::vector<std::string>* cells);
  /// The line on which the row began that Next read last, from 1.
  [[nodiscard]] uint64_t number() const { return number_; }

 private:
  LineSource& lines_;
  uint64_t number_ = 0, lines_read_ = 0;
};

/// A cell as it is written: in quotes where it must be.
std::string CsvCell(std::string_view text);

/// The cell of the first row that ReadCsvHeader reads as a tag of that key.
std::string CsvTagColumn(std::string_view key);

/// Where the parts of a point stand in a row.
struct CsvColumns {
  size_t metric = 0, time = 0, value = 0;
  std::vector<std::string> tags;  // the key of each column; "" = none of a tag
};

/// From the first row. InvalidArgument: a column is missing, stands twice, has no name.
Result<CsvColumns> ReadCsvHeader(std::vector<std::string> cells);

/// A point of a row; borrows columns and cells.
struct CsvPoint {
  std::string_view metric, value;
  Timestamp time;  // > 0
  std::vector<TagText> tags;
};

/// Value and names are not looked at. InvalidArgument: not as many cells as columns, no metric, a
/// time that is none.
Result<CsvPoint> ReadCsvPoint(const CsvColumns& columns, const std::vector<std::string>& cells);

}  // namespace hg::tsd
