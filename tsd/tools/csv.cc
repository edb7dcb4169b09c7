#include "tsd/tools/csv.h"

#include <algorithm>

#include "storage/model/instant.h"
#include "storage/model/number_text.h"

namespace hg::tsd {
namespace {

constexpr std::string_view kByteOrderMark =
    "\xEF\xBB\xBF";  // spreadsheets write it at the beginning of files

constexpr std::string_view kTagMark = "tag:";

/// Returns the first nonempty cell that occurs a second time, or nullptr.
const std::string* FirstTwice(const std::vector<std::string>& cells) {
  for (auto cell = cells.begin(); cell != cells.end(); ++cell) {
    if (!cell->empty() && std::find(cells.begin(), cell, *cell) != cell) return &*cell;
  }
  return nullptr;
}

/// Parses the cells of one row from its lines.
class RowParser {
 public:
  explicit RowParser(std::vector<std::string>* cells) : cells_(*cells) { cells_.assign(1, ""); }

  /// Adds a line of the row. Returns false for a misplaced quote.
  bool Add(std::string_view line) {
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quoted_) {
        if (c != '"') {
          cells_.back() += c;
        } else if (line.substr(i + 1, 1) == "\"") {
          cells_.back() += line[++i];
        } else {
          quoted_ = false;
          closed_ = true;
        }
      } else if (c == ',') {
        cells_.emplace_back();
        closed_ = false;
      } else if (closed_ || (c == '"' && !cells_.back().empty())) {
        return false;
      } else if (c == '"') {
        quoted_ = true;
      } else {
        cells_.back() += c;
      }
    }
    return true;
  }
  [[nodiscard]] bool quoted() const { return quoted_; }
  void AddLineEnd() { cells_.back() += '\n'; }

 private:
  std::vector<std::string>& cells_;
  bool quoted_ = false;  // inside quotes
  bool closed_ = false;  // after the closing quote
};

}  // namespace

Result<bool> CsvReader::Next(std::vector<std::string>* cells) {
  std::string_view line;
  do {
    ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) return false;
    if (++lines_read_ == 1 && line.starts_with(kByteOrderMark))
      line.remove_prefix(kByteOrderMark.size());
  } while (line.empty());
  number_ = lines_read_;
  RowParser row(cells);
  for (size_t bytes = line.size();; bytes += line.size() + 1) {
    if (bytes > kCsvRowBytesMax)
      return Status::InvalidArgument("the row is longer than " + std::to_string(kCsvRowBytesMax) +
                                     " bytes: is a closing quote missing?");
    if (!row.Add(line))
      return Status::InvalidArgument(
          "a quote within a cell: put the whole cell in quotes and double each quote in it: \"" +
          std::string(line) + "\"");
    if (!row.quoted()) return true;
    row.AddLineEnd();
    ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
    if (!more) return Status::InvalidArgument("a cell in quotes has no closing quote");
    ++lines_read_;
  }
}

std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + "\"";
}

std::string CsvTagColumn(std::string_view key) {
  const bool marked =
      key == "metric" || key == "time" || key == "value" || key.starts_with(kTagMark);
  return CsvCell((marked ? std::string(kTagMark) : std::string()) + std::string(key));
}

Result<CsvColumns> ReadCsvHeader(std::vector<std::string> cells) {
  CsvColumns columns;
  const auto take = [&cells](std::string_view name, size_t* column) -> Status {
    const auto at = std::find(cells.begin(), cells.end(), name);
    if (at == cells.end())
      return Status::InvalidArgument("the first row does not name the column \"" +
                                     std::string(name) +
                                     "\": metric, time and value are required, and other columns "
                                     "are tags");
    *column = static_cast<size_t>(at - cells.begin());
    return {};
  };
  RETURN_IF_ERROR(take("metric", &columns.metric));
  RETURN_IF_ERROR(take("time", &columns.time));
  RETURN_IF_ERROR(take("value", &columns.value));
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty() || cells[i] == kTagMark)
      return Status::InvalidArgument("column " + std::to_string(i + 1) + " has no name");
  }
  const std::string* twice = FirstTwice(cells);
  if (twice == nullptr) {
    columns.tags = cells;
    for (const size_t i : {columns.metric, columns.time, columns.value}) columns.tags[i].clear();
    for (std::string& key : columns.tags) {
      if (key.starts_with(kTagMark)) key.erase(0, kTagMark.size());
    }
    twice = FirstTwice(columns.tags);
  }
  if (twice != nullptr)
    return Status::InvalidArgument("the column \"" + *twice + "\" occurs twice");
  return columns;
}

Result<CsvPoint> ReadCsvPoint(const CsvColumns& columns, const std::vector<std::string>& cells) {
  if (cells.size() != columns.tags.size())
    return Status::InvalidArgument("the row has " + std::to_string(cells.size()) +
                                   " cells, the first row has " +
                                   std::to_string(columns.tags.size()));
  CsvPoint point;
  point.metric = cells[columns.metric];
  if (point.metric.empty()) return Status::InvalidArgument("the row has no metric");
  point.value = cells[columns.value];
  NumberError error;
  if (!ParseLong(cells[columns.time], &point.time.raw, &error))
    return Status::InvalidArgument("invalid time: " + error.message);
  const bool in_range = point.time.raw > 0 && point.time.raw <= kInstantMaxMs;
  if (!in_range || point.time.millis() > kInstantMaxMs) return BadInstant(cells[columns.time]);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!columns.tags[i].empty() && !cells[i].empty())
      point.tags.push_back({columns.tags[i], cells[i]});
  }
  return point;
}

}  // namespace hg::tsd
