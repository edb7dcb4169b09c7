#pragma once
// Points as comma-separated values (RFC 4180), for `import --csv` and `export`. The first row names
// the columns `metric`, `time` and `value`. Every other column is a tag, and an empty cell means
// that the series lacks that tag. A column name may have the prefix `tag:`, which is not part of
// the tag key. With this prefix, a tag key may also be `metric`, `time` or `value`.

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point_sink.h"
#include "storage/model/timestamp.h"
#include "tsd/tools/line_source.h"

namespace hg::tsd {

/// Maximum length of a row in bytes. A row may span several lines, because its texts may contain
/// newlines.
inline constexpr size_t kCsvRowBytesMax = 1048576;

/// Reads the rows of a CSV file. Not thread-safe.
class CsvReader {
 public:
  /// The lines must outlive the reader.
  explicit CsvReader(LineSource& lines) : lines_(lines) {}

  /// Reads the next row that is not empty. Returns false at the end. InvalidArgument: unmatched
  /// quotes, or a row that is too long; the next call continues after that row. Also returns the
  /// errors of LineSource::Next.
  Result<bool> Next(std::vector<std::string>* cells);
  /// Returns the number of the line (from 1) at which the last row begins.
  [[nodiscard]] uint64_t number() const { return number_; }

 private:
  LineSource& lines_;
  uint64_t number_ = 0, lines_read_ = 0;
};

/// Returns the text in the form of a cell of a CSV file, with quotes if necessary.
std::string CsvCell(std::string_view text);

/// Returns the column name for the tag key `key`. ReadCsvHeader converts the name back to the key.
std::string CsvTagColumn(std::string_view key);

/// The positions of the columns of a CSV file, by the meaning of the columns.
struct CsvColumns {
  size_t metric = 0, time = 0, value = 0;
  std::vector<std::string> tags;  // the tag key of each column; "": the column is not a tag
};

/// Parses the first row. InvalidArgument: a column is missing, repeated or unnamed.
Result<CsvColumns> ReadCsvHeader(std::vector<std::string> cells);

/// A point in a row of a CSV file; its texts are views of columns and cells.
struct CsvPoint {
  std::string_view metric, value;
  Timestamp time;  // > 0
  std::vector<TagText> tags;
};

/// Reads a point from the cells of a row. Does not check the value and the names. InvalidArgument:
/// the row has more or fewer cells than there are columns, no metric, or an invalid time.
Result<CsvPoint> ReadCsvPoint(const CsvColumns& columns, const std::vector<std::string>& cells);

}  // namespace hg::tsd
