#pragma once
// The rows of a part of the source, in chunks of bounded size, read a chunk ahead.

#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tsd/tools/migrate_state.h"

namespace hg::tsd {

/// The whole rows of these keys, in their order; a row that is not there has no cells. Where they
/// are too much for one answer (LimitExceeded) they are asked for in halves; a single row that is
/// fails.
Result<std::vector<Row>> GetWholeRows(Store& store, const std::string& table,
                                      std::span<const Bytes> keys);

/// One thread's. The store outlives it.
class MigrateReader {
 public:
  struct Chunk {
    std::vector<Row> rows;  // none: the end
    size_t keys_bytes = 0;  // of keys that were read to learn which rows there are
  };

  /// From part.at on. `since_ms`: only rows with cells of this time or later; between being seen
  /// and being read they may have gone, and have no cells.
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
  std::vector<Bytes> keys_;  // seen as changed
  size_t at_ = 0;            // those before it were given
  size_t rows_at_once_;
  std::future<Result<Chunk>> next_;  // ends before all else
};

}  // namespace hg::tsd
