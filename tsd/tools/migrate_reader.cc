#include "tsd/tools/migrate_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tsd/tools/migrate_row.h"

namespace hg::tsd {
namespace {

constexpr size_t kChunkRows = 512;
constexpr size_t kChunkBytes = 4 << 20;
/// Number of rows in the first request for changed rows. It is small, because the size of the rows
/// is unknown.
constexpr size_t kFirstRows = 32;

}  // namespace

Result<std::vector<Row>> GetWholeRows(Store& store, const std::string& table,
                                      std::span<const Bytes> keys) {
  std::vector<Row> rows;
  rows.reserve(keys.size());
  std::vector<Result<Row>> read = store.GetRows(table, {keys.begin(), keys.end()}, {});
  for (size_t i = 0; i < keys.size(); ++i) {
    if (read[i].status().code() == StatusCode::kLimitExceeded && keys.size() > 1) {
      read.clear();
      const size_t half = keys.size() / 2;
      ASSIGN_OR_RETURN(rows, GetWholeRows(store, table, keys.first(half)));
      ASSIGN_OR_RETURN(std::vector<Row> rest, GetWholeRows(store, table, keys.subspan(half)));
      std::move(rest.begin(), rest.end(), std::back_inserter(rows));
      return rows;
    }
    if (!read[i].ok()) return Prepend(read[i].status(), "row " + ToHex(keys[i]));
    rows.push_back(*std::move(read[i]));
    rows.back().key = keys[i];
  }
  return rows;
}

MigrateReader::MigrateReader(Store& store, const MigratePart& part, std::optional<int64_t> since_ms)
    : store_(store), changed_(since_ms.has_value()), rows_at_once_(kFirstRows) {
  spec_.table = part.table;
  spec_.start = part.at;
  spec_.stop = part.stop;
  spec_.batch_rows = kChunkRows;
  spec_.batch_bytes = kChunkBytes;
  spec_.fill_cache = false;
  if (!changed_) return;
  spec_.min_ms = *since_ms;
  spec_.keys_only = true;
  spec_.first_cell_only = true;
}

Status MigrateReader::Open() {
  ASSIGN_OR_RETURN(cursor_, store_.Scan(spec_));
  Fetch();
  return {};
}

Result<MigrateReader::Chunk> MigrateReader::Next() {
  auto chunk = next_.get();
  if (chunk.ok() && !chunk->rows.empty()) Fetch();
  return chunk;
}

void MigrateReader::Fetch() {
  next_ = std::async(std::launch::async,
                     [this]() -> Result<Chunk> { return changed_ ? FetchChanged() : FetchAll(); });
}

Result<MigrateReader::Chunk> MigrateReader::FetchAll() {
  Chunk chunk;
  RETURN_IF_ERROR(cursor_->Next(&chunk.rows));
  return chunk;
}

Result<MigrateReader::Chunk> MigrateReader::FetchChanged() {
  Chunk chunk;
  if (at_ == keys_.size()) {
    std::vector<Row> seen;
    RETURN_IF_ERROR(cursor_->Next(&seen));
    keys_.clear();
    at_ = 0;
    for (Row& row : seen) {
      chunk.keys_bytes += row.key.size();
      keys_.push_back(std::move(row.key));
    }
    if (keys_.empty()) return chunk;
  }
  const size_t count = std::min(rows_at_once_, keys_.size() - at_);
  ASSIGN_OR_RETURN(chunk.rows,
                   GetWholeRows(store_, spec_.table, std::span(keys_).subspan(at_, count)));
  at_ += count;
  // The number of rows of the next request is estimated from the size of these rows.
  size_t bytes = 1;
  for (const Row& row : chunk.rows) bytes += BytesOf(row);
  rows_at_once_ = std::clamp<size_t>(count * kChunkBytes / bytes, 1, kChunkRows);
  return chunk;
}

}  // namespace hg::tsd
