#pragma once
// Reads the rows of a part of the source in chunks of limited size, one chunk ahead.

#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tsd/tools/migrate_state.h"

namespace hg::tsd {

/// Returns the complete rows of these keys in order. Missing rows have no cells. If the response
/// would be too large (LimitExceeded), the keys are requested in halves. Fails if a single row is
/// too large.
Result<std::vector<Row>> GetWholeRows(Store& store, const std::string& table,
                                      std::span<const Bytes> keys);

/// For one thread. The store must outlive it.
class MigrateReader {
 public:
  struct Chunk {
    std::vector<Row> rows;  // empty: the end
    size_t keys_bytes = 0;  // size of the keys that were read to find changed rows
  };

  /// Reads from part.at on. With `since_ms`, only rows with cells of this time or later. Such a row
  /// may be deleted before it is read and then has no cells.
  MigrateReader(Store& store, const MigratePart& part, std::optional<int64_t> since_ms);

  Status Open();
  Result<Chunk> Next();

 private:
  void Fetch();
  Result<Chunk> FetchAll();
  Result<Chunk> FetchChanged();

  Store& store_;
  const bool changed_;
  ScanSpec spec_;
  std::unique_ptr<ScanCursor> cursor_;
  std::vector<Bytes> keys_;  // keys of changed rows
  size_t at_ = 0;            // keys before this index are done
  size_t rows_at_once_;
  std::future<Result<Chunk>> next_;  // destroyed first
};

}  // namespace hg::tsd
