#pragma once
// Reads the rows of a part of the source store in chunks of limited size. It reads the next chunk
// while the caller processes the current one.

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

/// Only one thread may use the object. The store must outlive it.
class MigrateReader {
 public:
  struct Chunk {
    std::vector<Row> rows;  // the rows of the chunk; empty: there are no more rows
    size_t keys_bytes = 0;  // size of the keys that were read to find changed rows
  };

  /// Reads rows from the key part.at on. With `since_ms`, reads only rows that have cells of this
  /// time or later. A row that is deleted after its key was found and before it is read is returned
  /// without cells.
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
  size_t at_ = 0;            // index of the first key in keys_ whose row was not read yet
  size_t rows_at_once_;
  // The next chunk, which another thread reads. Destroyed first, because that thread uses the other
  // members.
  std::future<Result<Chunk>> next_;
};

}  // namespace hg::tsd
