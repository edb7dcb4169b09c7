#pragma once
// Reads the rows of one part of the source store in chunks of limited size. While the caller
// processes a chunk, the reader already reads the next chunk.

#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tsd/tools/migrate_state.h"

namespace hg::tsd {

/// Returns the complete rows with these keys, in the order of the keys. A row that does not exist
/// is returned without cells. If the response would be too large (LimitExceeded), the keys are
/// divided into halves and requested separately. Fails if a single row is too large.
Result<std::vector<Row>> GetWholeRows(Store& store, const std::string& table,
                                      std::span<const Bytes> keys);

/// Reads one part of the source. Only one thread may use the object. The store must outlive the
/// object.
class MigrateReader {
 public:
  struct Chunk {
    std::vector<Row> rows;  // the rows of the chunk; empty: there are no more rows
    size_t keys_bytes = 0;  // total size of the keys that were read to find changed rows
  };

  /// Reads the rows from the key part.at on. If `since_ms` is set, reads only rows that have cells
  /// with this time or a later time. A row that is deleted after its key was found and before it is
  /// read is returned without cells.
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
  std::vector<Bytes> keys_;  // keys of the rows that have cells with a time ≥ since_ms
  size_t at_ = 0;            // index in keys_ of the first row that was not read yet
  size_t rows_at_once_;
  // The next chunk, which another thread reads. This member is destroyed before all other members,
  // because that thread uses them.
  std::future<Result<Chunk>> next_;
};

}  // namespace hg::tsd
