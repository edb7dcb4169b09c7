#pragma once
// Points as comma-separated values (RFC 4180), for `import --csv` and `export`. The first row
// contains the names of the columns; `metric`, `time` and `value` are required. Every other column
// is a tag, and an empty cell means that the series lacks this tag. The name of a tag column may
// have the prefix `tag:`, which is not part of the tag key. With this prefix, a tag key may also be
// `metric`, `time` or `value`.

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"
#include "tsd/tools/line_source.h"

namespace hg::tsd {

/// The maximum length of a row in bytes. A row may span several lines, because its texts may
/// contain newlines.
inline constexpr size_t kCsvRowBytesMax = 1048576;

/// Reads the rows of a CSV file. The reader is not thread-safe.
class CsvReader {
 public:
  /// `lines` must outlive the reader.
  explicit CsvReader(LineSource& lines) : lines_(lines) {}

  /// Reads the next row that is not empty. Returns false at the end of the file. InvalidArgument:
  /// the row has unmatched quotes, or is too long; the next call continues after this row. Also
  /// returns the errors of LineSource::Next.
  Result<bool> Next(std::vector<std::string>* cells);
  /// Returns the number of the line where the row that Next read last begins. The first line is 1.
  [[nodiscard]] uint64_t number() const { return number_; }

 private:
  LineSource& lines_;
  uint64_t number_ = 0, lines_read_ = 0;
};

/// Returns the text in the form of a cell of a CSV file, in quotes if necessary.
std::string CsvCell(std::string_view text);

/// Returns the name of the column for the tag key `key`. ReadCsvHeader converts this name back to
/// the tag key.
std::string CsvTagColumn(std::string_view key);

/// The indexes of the required columns of a CSV file, and the tag keys of all other columns.
struct CsvColumns {
  size_t metric = 0, time = 0, value = 0;
  std::vector<std::string> tags;  // the tag key of each column; "": the column is not a tag
};

/// Parses the first row of a CSV file. InvalidArgument: a required column is missing, a column is
/// repeated, or a column has no name.
Result<CsvColumns> ReadCsvHeader(std::vector<std::string> cells);

/// The point in one row of a CSV file. Its texts are views of the columns and of the cells.
struct CsvPoint {
  std::string_view metric, value;
  Timestamp time;  // greater than 0
  std::vector<TagText> tags;
};

/// Reads the point in the cells of a row. The value and the names are not checked. InvalidArgument:
/// the row has more or fewer cells than the file has columns, has no metric, or has an invalid
/// time.
Result<CsvPoint> ReadCsvPoint(const CsvColumns& columns, const std::vector<std::string>& cells);

}  // namespace hg::tsd
