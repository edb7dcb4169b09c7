#include "tsd/tools/cell_read.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "http/wire/json_writer.h"
#include "storage/for_each_region.h"
#include "storage/points/filter_row.h"
#include "storage/region/pre_split.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Prints cells as lines of text or as a JSON array with an element for each cell.
class CellPrinter {
 public:
  CellPrinter(bool json, std::ostream& out) : is_json_(json), out_(out), json_(&text_) {
    if (is_json_) json_.BeginArray();
  }
  void Print(const Row& row) {
    for (const Cell& cell : row.cells) {
      const std::string column =
          region::KeyText(cell.family) + ':' + region::KeyText(cell.qualifier);
      if (is_json_) {
        json_.Text("\n");
        json_.BeginObject();
        json_.Member("row", region::KeyText(row.key));
        json_.Member("column", column);
        json_.Member("timestamp", cell.timestamp_ms);
        json_.Member("value", region::KeyText(cell.value));
        json_.EndObject();
      } else {
        text_ += region::KeyText(row.key) + '\t' + column + '\t' +
                 std::to_string(cell.timestamp_ms) + '\t' + region::KeyText(cell.value) + '\n';
      }
    }
    Flush();
  }
  void Finish() {
    if (is_json_) {
      json_.EndArray();
      text_ += '\n';
    }
    Flush();
  }

 private:
  void Flush() {
    out_ << text_;
    text_.clear();
  }

  const bool is_json_;
  std::ostream& out_;
  std::string text_;
  http::JsonWriter json_;
};

bool IsWanted(const std::vector<CellColumn>& columns, const Cell& cell) {
  return columns.empty() ||
         std::any_of(columns.begin(), columns.end(), [&](const CellColumn& column) {
           return column.family == cell.family &&
                  (!column.qualifier || *column.qualifier == cell.qualifier);
         });
}

// Calls visit(row) for the rows of the scan. Applies the selections and filters that the store
// could not apply.
template <typename Visit>
Status ForEachSelected(Store& store, CellRequest request, RowProgress* progress,
                       const Visit& visit) {
  ScanSpec spec = request.scan;
  if (request.select_again) {
    spec.keys_only = spec.first_cell_only = false;
    spec.limit_rows = UINT64_MAX;
    spec.batch_rows = std::min<uint64_t>(spec.batch_rows, request.scan.limit_rows);
  }
  ASSIGN_OR_RETURN(const auto cursor, store.Scan(spec));
  uint64_t given = 0;
  for (std::vector<Row> rows; given < request.scan.limit_rows;) {
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) break;
    progress->Count(rows.size());
    for (Row& row : rows) {
      if (request.select_again) {
        if (given == request.scan.limit_rows) break;
        // As in the store, filters are applied only to the selected cells.
        std::erase_if(row.cells,
                      [&](const Cell& cell) { return !IsWanted(request.columns, cell); });
        if (row.cells.empty() || !request.filter.rows.Passes(row.key, row.cells)) continue;
        points::Strip(request.scan, &row.cells);
      }
      ++given;
      visit(row);
    }
  }
  return {};
}

struct Totals {
  uint64_t rows = 0;
  uint64_t values = 0;  // values of 8 bytes
  uint64_t others = 0;  // values of another size, which are left out
  __int128 sum = 0;
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();

  void Add(const Row& row) {
    ++rows;
    for (const Cell& cell : row.cells) {
      if (cell.value.size() != sizeof(int64_t)) {
        ++others;
        continue;
      }
      const auto value = static_cast<int64_t>(ReadBig64(cell.value.data()));
      ++values;
      sum += value;
      min = std::min(min, value);
      max = std::max(max, value);
    }
  }
  void Add(const Totals& part) {
    rows += part.rows;
    values += part.values;
    others += part.others;
    sum += part.sum;
    min = std::min(min, part.min);
    max = std::max(max, part.max);
  }
};

Result<Totals> Total(Store& store, const CellRequest& request, RowProgress* progress) {
  if (request.select_again || request.scan.limit_rows != UINT64_MAX) {
    Totals totals;
    RETURN_IF_ERROR(
        ForEachSelected(store, request, progress, [&](const Row& row) { totals.Add(row); }));
    return totals;
  }
  const auto part = [&](const RegionInfo& region) -> Result<Totals> {
    CellRequest of_region = request;
    ScanSpec& scan = of_region.scan;
    scan.start = std::max(scan.start, region.start);
    if (scan.stop.empty() || (!region.stop.empty() && region.stop < scan.stop))
      scan.stop = region.stop;
    scan.fill_cache = false;
    Totals totals;
    if (!scan.stop.empty() && scan.start >= scan.stop) return totals;
    RETURN_IF_ERROR(
        ForEachSelected(store, of_region, progress, [&](const Row& row) { totals.Add(row); }));
    return totals;
  };
  return ForEachRegion<Totals>(store, request.table, request.scan.context, {}, part,
                               [](Totals* all, const Totals& one) { all->Add(one); });
}

// Returns the result as a JSON number or null.
Result<std::string> AnswerOf(CellVerb verb, const Totals& totals) {
  if (verb == CellVerb::kCount) return std::to_string(totals.rows);
  if (verb == CellVerb::kSum) {
    if (totals.sum > std::numeric_limits<int64_t>::max() ||
        totals.sum < std::numeric_limits<int64_t>::min())
      return Status::LimitExceeded("the sum of " + std::to_string(totals.values) +
                                   " values needs more than 64 bits");
    return std::to_string(static_cast<int64_t>(totals.sum));
  }
  if (totals.values == 0) return std::string("null");
  if (verb == CellVerb::kMin) return std::to_string(totals.min);
  if (verb == CellVerb::kMax) return std::to_string(totals.max);
  std::string text;
  http::JsonWriter(&text).Double(static_cast<double>(totals.sum) /
                                 static_cast<double>(totals.values));
  return text;
}

Status Aggregate(Store& store, const CellRequest& request, RowProgress* progress,
                 std::ostream& out) {
  ASSIGN_OR_RETURN(const Totals totals, Total(store, request, progress));
  ASSIGN_OR_RETURN(const std::string answer, AnswerOf(request.verb, totals));
  if (!request.json) {
    out << answer << '\n';
    return {};
  }
  std::string text;
  http::JsonWriter json(&text);
  json.BeginObject();
  json.Key("result");
  json.Raw(answer);
  json.Member("rows", static_cast<int64_t>(totals.rows));
  if (request.verb != CellVerb::kCount) {
    json.Member("values", static_cast<int64_t>(totals.values));
    json.Member("left_out", static_cast<int64_t>(totals.others));
  }
  json.EndObject();
  out << text << '\n';
  return {};
}

}  // namespace

RowProgress::RowProgress(Invocation& call)
    : RowProgress(std::chrono::seconds(5), [&call](const std::string& text) {
        call.err << "tsdb " << call.command.name << ": " << text << std::endl;
      }) {}

void RowProgress::Count(uint64_t rows) {
  const MutexLock lock(mutex_);
  rows_ += rows;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + interval_;
  line_(std::to_string(rows_) + " rows read");
}

Status ReadCells(Store& store, CellRequest request, RowProgress* progress, std::ostream& out) {
  if (Aggregates(request.verb)) return Aggregate(store, request, progress, out);
  CellPrinter printer(request.json, out);
  if (request.verb == CellVerb::kGet) {
    ASSIGN_OR_RETURN(Row row, store.GetCells(request.table, request.row, request.scan));
    std::erase_if(row.cells, [&](const Cell& cell) { return !IsWanted(request.columns, cell); });
    printer.Print(row);
  } else {
    RETURN_IF_ERROR(
        ForEachSelected(store, request, progress, [&](const Row& row) { printer.Print(row); }));
  }
  printer.Finish();
  return {};
}

}  // namespace hg::tsd
