#include "storage/thrift2/requests.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "storage/hbase/check_request.h"
#include "storage/hbase/wire_types.h"
#include "storage/points/filter_row.h"
#include "storage/thrift2/filter_string.h"

namespace hg::thrift2 {
namespace {

using Kind = CellChange::Kind;

// Memory in bytes for one column of a request, apart from the bytes of its family and qualifier.
constexpr int64_t kColumnBytes = 256;
// A decoded filter takes several times its bytes.
constexpr int64_t kBytesPerFilterByte = 8;

bool Names(const std::vector<wire::TColumn>& columns, const Cell& cell) {
  return std::any_of(columns.begin(), columns.end(), [&](const wire::TColumn& column) {
    return column.family == cell.family &&
           (!column.__isset.qualifier || column.qualifier == cell.qualifier);
  });
}

constexpr int64_t kNow = std::numeric_limits<int64_t>::max();

// Returns the time of a cell, or kNow.
int64_t PutTime(const wire::TPut& put, const wire::TColumnValue& cell) {
  if (cell.__isset.timestamp) return cell.timestamp;
  return put.__isset.timestamp ? put.timestamp : kNow;
}

// Returns the time of a delete or of one of its columns. Returns nullopt if the delete applies to
// the data that exists when it is executed.
template <typename Part>
std::optional<int64_t> DeleteTime(const Part& part) {
  if (!part.__isset.timestamp || part.timestamp == kNow) return std::nullopt;
  return part.timestamp;
}

std::string Exception(const char* name, const std::string& message) {
  return "org.apache.hadoop.hbase." + std::string(name) + ": " + message;
}

}  // namespace

void Refuse(const std::string& message, bool can_retry) {
  wire::TIOError error;
  error.__set_message(message);
  error.__set_canRetry(can_retry);
  throw error;
}

void RefuseArgument(const std::string& method) {
  throw std::runtime_error("Internal error processing " + method);
}

void RefuseFamily(bool can_retry) {
  Refuse(Exception("regionserver.NoSuchColumnFamilyException",
                   "Column family does not exist in region"),
         can_retry);
}

void Check(const Status& status, const std::string& table, const std::string& method,
           bool family_retry) {
  const std::string text(status.message());
  switch (status.code()) {
    case StatusCode::kOk:
      return;
    case StatusCode::kNotFound:
      if (text.find("famil") != std::string::npos) RefuseFamily(family_retry);
      Refuse(table, false);
    case StatusCode::kInvalidArgument:
      if (method == "increment") {
        Refuse(Exception("DoNotRetryIOException", "Field is not a long: " + text), false);
      }
      Refuse(Exception("DoNotRetryIOException", text), false);
    case StatusCode::kUnsupported:
      Refuse(Exception("DoNotRetryIOException", text + " Set hbase.table.sanity.checks to false"),
             false);
    case StatusCode::kConflict:
    case StatusCode::kLimitExceeded:
      Refuse(Exception("DoNotRetryIOException", text), false);
    case StatusCode::kBusy:
    case StatusCode::kExhausted:
      Refuse(Exception("RegionTooBusyException", text), true);
    case StatusCode::kCorruption:
      Refuse(Exception("io.hfile.CorruptHFileException", text), false);
    default:
      Refuse(Exception("RegionException", text), true);
  }
}

void CheckResponse(int64_t held, int64_t bytes_max, const std::string& advice) {
  if (held <= bytes_max) return;
  Check(Status::LimitExceeded("the response exceeds " + std::to_string(bytes_max) + " bytes; " +
                              advice),
        "", "");
}

void CheckRowKey(const std::string& key, const std::string& method) {
  if (!hbase::CheckKey(key).ok()) RefuseArgument(method);
}

void CheckChanges(size_t count) {
  if (count <= kRowChangesMax) return;
  Refuse(Exception("DoNotRetryIOException",
                   std::to_string(count) + " changes of one row, at most " +
                       std::to_string(kRowChangesMax) + ": change the row with several calls"),
         false);
}

void CheckFamilies(const TableDescriptor& table, const std::vector<wire::TColumn>& columns) {
  for (const wire::TColumn& column : columns) {
    if (std::none_of(table.families.begin(), table.families.end(),
                     [&](const auto& family) { return family.name == column.family; })) {
      RefuseFamily(false);
    }
  }
}

CellChoice::CellChoice(const wire::TGet& get, const std::string& method) {
  CheckRowKey(get.row, method);
  SetColumns(get.columns);
  SetVersions(get.__isset.maxVersions ? get.maxVersions : 1, method);
  if (get.__isset.timestamp) {
    wire::TTimeRange moment;
    moment.minStamp = get.timestamp;
    moment.maxStamp =
        get.timestamp == std::numeric_limits<int64_t>::max() ? get.timestamp : get.timestamp + 1;
    SetTimes(moment, method);
  } else if (get.__isset.timeRange) {
    SetTimes(get.timeRange, method);
  }
  if (get.__isset.filterString && !get.__isset.filterBytes) {
    SetFilterText(get.filterString, method);
  } else {
    SetFilter(get.filterBytes);
  }
  if (get.__isset.storeLimit) limit_ = get.storeLimit;
  if (get.__isset.storeOffset) offset_ = std::max(get.storeOffset, 0);
}

CellChoice::CellChoice(const wire::TScan& scan, const std::string& method) {
  if (scan.__isset.colFamTimeRangeMap && !scan.colFamTimeRangeMap.empty()) {
    Refuse("time ranges of single families are not supported: set timeRange", false);
  }
  if (scan.attributes.contains("_raw_")) Refuse("raw scans are not supported", false);
  SetColumns(scan.columns);
  SetVersions(scan.maxVersions, method);
  if (scan.__isset.timeRange) SetTimes(scan.timeRange, method);
  if (scan.__isset.filterString && !scan.__isset.filterBytes) {
    SetFilterText(scan.filterString, method);
  } else {
    SetFilter(scan.filterBytes);
  }
}

void CellChoice::SetColumns(const std::vector<wire::TColumn>& columns) {
  if (columns.empty()) return;
  const Bytes& family = columns[0].family;
  if (std::any_of(columns.begin(), columns.end(),
                  [&](const auto& column) { return column.family != family; })) {
    columns_ = columns;
    return;
  }
  selection_.family = family;
  for (const wire::TColumn& column : columns) {
    if (!column.__isset.qualifier) {
      selection_.qualifiers.clear();
      return;
    }
    selection_.qualifiers.push_back(column.qualifier);
  }
}

void CellChoice::SetVersions(int32_t versions, const std::string& method) {
  if (versions < 1) RefuseArgument(method);
  selection_.max_versions = versions;
}

void CellChoice::SetTimes(const wire::TTimeRange& range, const std::string& method) {
  if (range.minStamp < 0 || range.maxStamp < range.minStamp) RefuseArgument(method);
  selection_.min_ms = range.minStamp;
  selection_.max_ms = range.maxStamp;
}

void CellChoice::SetFilter(const std::string& bytes) {
  if (bytes.empty()) return;
  auto filter = ReadCellFilter(bytes);
  if (!filter.ok()) {
    const bool unknown = filter.status().code() == StatusCode::kUnsupported;
    const std::string name = unknown
                                 ? "java.lang.ClassNotFoundException"
                                 : "org.apache.hadoop.hbase.exceptions.DeserializationException";
    Refuse(name + ": " + filter.status().ToString(), !unknown);
  }
  filter_ = std::move(*filter);
  filter_bytes_ = bytes.size();
}

void CellChoice::SetFilterText(const std::string& text, const std::string& method) {
  const auto check = [&](const Status& status) {
    if (status.ok()) return;
    if (status.code() == StatusCode::kInvalidArgument) RefuseArgument(method);
    Refuse(Exception("DoNotRetryIOException", std::string(status.message())), false);
  };
  const Result<Bytes> bytes = FilterBytesOf(text);
  check(bytes.status());
  // The bytes of a text can be invalid only if a regular expression is invalid. HBase also refuses
  // such a text.
  auto filter = ReadCellFilter(*bytes);
  check(filter.status());
  filter_ = std::move(*filter);
  filter_bytes_ = bytes->size();
}

void CellChoice::Keep(Row* row, RequestContext* context) {
  if (!columns_.empty()) {
    std::erase_if(row->cells, [&](const Cell& cell) {
      Check(context->Step(columns_.size()), "", "columns");
      return !Names(columns_, cell);
    });
  }
  if (filter_ != nullptr) {
    filter_->StartRow();
    std::erase_if(row->cells, [&](Cell& cell) {
      const Result<bool> passes = filter_->Passes(row->key, &cell, context);
      Check(passes.status(), "", "filter");
      return !*passes;
    });
  }
  if (limit_ < 0 && offset_ == 0) return;
  std::map<Bytes, int32_t> seen;  // number of cells of each family
  std::erase_if(row->cells, [&](const Cell& cell) {
    const int32_t at = seen[cell.family]++;
    return at < offset_ || (limit_ >= 0 && at >= int64_t{offset_} + limit_);
  });
}

int64_t CellChoice::memory_bytes() const {
  int64_t bytes = static_cast<int64_t>(filter_bytes_) * kBytesPerFilterByte;
  for (const Bytes& qualifier : selection_.qualifiers) {
    bytes += kColumnBytes + static_cast<int64_t>(qualifier.size());
  }
  for (const wire::TColumn& column : columns_) {
    bytes += kColumnBytes + static_cast<int64_t>(column.family.size() + column.qualifier.size());
  }
  return bytes;
}

wire::TResult WriteRow(Row row) {
  wire::TResult result;
  if (row.empty()) return result;
  result.__set_row(std::move(row.key));
  result.columnValues.reserve(row.cells.size());
  for (Cell& cell : row.cells) {
    wire::TColumnValue& value = result.columnValues.emplace_back();
    value.family = std::move(cell.family);
    value.qualifier = std::move(cell.qualifier);
    value.value = std::move(cell.value);
    value.__set_timestamp(cell.timestamp_ms);
  }
  return result;
}

std::optional<int64_t> TtlOf(const std::map<std::string, std::string>& attributes) {
  const auto ttl = attributes.find(hbase::kTtlAttribute);
  if (ttl == attributes.end()) return {};
  if (ttl->second.size() != 8) Refuse("the attribute _ttl must have 8 bytes", false);
  return static_cast<int64_t>(ReadBig64(ttl->second.data()));
}

void CheckPut(const wire::TPut& put, const std::string& method) {
  CheckRowKey(put.row, method);
  if (put.columnValues.empty()) RefuseArgument(method);
  CheckChanges(put.columnValues.size());
  const bool has_ttl = TtlOf(put.attributes).has_value();
  for (const wire::TColumnValue& cell : put.columnValues) {
    if (hbase::CellBytes(put.row.size(), cell.family.size(), cell.qualifier.size(),
                         cell.value.size(), has_ttl) > hbase::kCellBytesMax) {
      RefuseArgument(method);
    }
    if (PutTime(put, cell) < 0) RefuseArgument(method);
  }
}

std::vector<CellChange> ReadPut(const wire::TPut& put, const std::string& method) {
  CheckPut(put, method);
  const std::optional<int64_t> ttl_ms = TtlOf(put.attributes);
  std::vector<CellChange> changes;
  changes.reserve(put.columnValues.size());
  for (const wire::TColumnValue& cell : put.columnValues) {
    CellChange& change = changes.emplace_back(PutCell(cell.family, cell.qualifier, cell.value));
    const int64_t time = PutTime(put, cell);
    if (time != kNow) change.timestamp_ms = time;
    change.ttl_ms = ttl_ms;
  }
  return changes;
}

void CheckDelete(const wire::TDelete& gone, const std::string& method) {
  using Type = wire::TDeleteType;
  CheckRowKey(gone.row, method);
  CheckChanges(gone.columns.size());
  if (gone.columns.empty() && DeleteTime(gone).value_or(0) < 0) RefuseArgument(method);
  for (const wire::TColumn& column : gone.columns) {
    const std::optional<int64_t> time = DeleteTime(column);
    if (time.value_or(0) < 0) RefuseArgument(method);
    if (gone.deleteType < Type::DELETE_COLUMN || gone.deleteType > Type::DELETE_FAMILY_VERSION) {
      RefuseArgument(method);
    }
    if (gone.deleteType == Type::DELETE_FAMILY_VERSION && !time) RefuseArgument(method);
  }
}

std::vector<CellChange> ReadDelete(const TableDescriptor& table, const wire::TDelete& gone,
                                   const std::string& method) {
  CheckDelete(gone, method);
  std::vector<CellChange> changes;
  if (gone.columns.empty()) {
    for (const FamilyDescriptor& family : table.families) {
      changes.push_back({Kind::kDeleteFamily, family.name, {}, {}, DeleteTime(gone), {}});
    }
  }
  for (const wire::TColumn& column : gone.columns) {
    CellChange& change = changes.emplace_back();
    change.family = column.family;
    change.timestamp_ms = DeleteTime(column);
    switch (gone.deleteType) {
      case wire::TDeleteType::DELETE_COLUMN:
        change.kind = Kind::kDeleteVersion;
        break;
      case wire::TDeleteType::DELETE_COLUMNS:
        change.kind = Kind::kDeleteColumn;
        break;
      case wire::TDeleteType::DELETE_FAMILY:
        change.kind = Kind::kDeleteFamily;
        continue;
      case wire::TDeleteType::DELETE_FAMILY_VERSION:
        change.kind = Kind::kDeleteFamilyVersion;
        continue;
    }
    change.qualifier = column.qualifier;
  }
  return changes;
}

RowMutation ReadMutations(const TableDescriptor& table, const wire::TRowMutations& row,
                          const std::string& method) {
  if (row.mutations.empty()) RefuseArgument(method);
  RowMutation all{row.row, {}};
  std::vector<CellChange> deletes;
  for (const wire::TMutation& mutation : row.mutations) {
    const bool puts = mutation.__isset.put;
    const std::string& key = puts ? mutation.put.row : mutation.deleteSingle.row;
    if (key != row.row) Refuse("java.io.IOException: row doesn't match the original one", false);
    std::vector<CellChange> some =
        puts ? ReadPut(mutation.put, method) : ReadDelete(table, mutation.deleteSingle, method);
    auto& kind = puts ? all.changes : deletes;
    std::move(some.begin(), some.end(), std::back_inserter(kind));
    CheckChanges(all.changes.size() + deletes.size());
  }
  std::move(deletes.begin(), deletes.end(), std::back_inserter(all.changes));
  return all;
}

bool Compares(wire::TCompareOperator::type op, const Bytes& expected, const Bytes* stored) {
  using Op = wire::TCompareOperator;
  static_assert(int{Op::LESS} == static_cast<int>(RowFilter::Op::kLess) &&
                int{Op::GREATER} == static_cast<int>(RowFilter::Op::kGreater));
  const bool absent = stored == nullptr || stored->empty();
  if (expected.empty()) return absent != (op == Op::NOT_EQUAL);
  if (stored == nullptr) return false;
  return points::Holds(static_cast<RowFilter::Op>(op), expected.compare(*stored));
}

}  // namespace hg::thrift2
