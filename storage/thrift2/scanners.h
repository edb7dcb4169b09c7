#pragma once
// The open scanners of all connections. As in HBase, a scanner belongs to the whole gateway, and
// any connection that has the id of a scanner may fetch from it. Only files in storage/thrift2 use
// this file.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/base/thread_annotations.h"
#include "storage/store.h"
#include "storage/thrift2/call_context.h"
#include "storage/thrift2/requests.h"

namespace hg::thrift2 {

/// One open scanner. Not thread-safe. Callers must hold `mutex`.
class Scanner {
 public:
  /// If the scan is invalid, throws the exception that HBase sends for it. The scanner charges its
  /// memory to `context`. The objects to which `context` refers must outlive the scanner.
  Scanner(std::string table, const wire::TScan& scan, std::unique_ptr<CallContext> context,
          const std::string& method);

  /// Appends the next rows, at most `rows`, and charges them to `reply`. If Fetch appends fewer
  /// than `rows` rows, the scan has ended. Throws the errors of the store. After an error, the
  /// scanner must be closed. `socket` is the connection of the client.
  void Fetch(Store& store, size_t rows, int socket, int64_t bytes_max, MemoryTally* reply,
             std::vector<wire::TResult>* results);

  [[nodiscard]] const std::string& table() const { return table_; }
  /// Returns the columns that the client has requested by name.
  [[nodiscard]] const std::vector<wire::TColumn>& columns() const { return columns_; }

  std::mutex mutex;

 private:
  void Open(Store& store, size_t rows);
  /// Moves to the next row that has requested cells. Returns false if there are no more such rows.
  bool NextRow();
  /// Returns the next result from the current row. The result is the whole row, or the next batch
  /// of cells if the client has set a batch size. Adds the memory of the result to `reply`. Throws
  /// an exception if `reply` then holds more than `bytes_max`.
  wire::TResult TakeResult(int64_t bytes_max, MemoryTally* reply);

  const std::string table_;
  const std::string method_;
  const std::unique_ptr<CallContext> context_;
  const std::vector<wire::TColumn> columns_;
  CellChoice choice_;
  ScanSpec spec_;
  const int32_t batch_cells_;           // number of cells per result; 0 = whole rows
  uint64_t rows_left_;                  // number of rows that the client's limit still allows
  MemoryTally memory_;                  // memory charged for this object
  std::unique_ptr<ScanCursor> cursor_;  // opened by the first fetch
  // Rows that were read in advance. Rows before the index at_ were already returned.
  std::vector<Row> rows_;
  size_t at_ = 0;
  Row row_;             // the current row
  size_t cell_at_ = 0;  // index in row_ of the first cell that was not returned yet
};

/// All open scanners of a server. Thread-safe.
class Scanners {
 public:
  Scanners(size_t scanners_max, size_t per_connection_max)
      : scanners_max_(scanners_max), per_connection_max_(per_connection_max) {}

  /// Adds a scanner and returns its id. Returns Busy if too many scanners are open. `connection` is
  /// the number of the connection that opens the scanner.
  Result<int32_t> Add(std::shared_ptr<Scanner> scanner, uint64_t connection);
  /// Returns the scanner, or null if no scanner has this id. CloseIdle does not close this scanner
  /// until the caller calls Done.
  std::shared_ptr<Scanner> Use(int32_t id);
  void Done(int32_t id);
  void Remove(int32_t id);
  /// Closes scanners that were not used for at least the time `idle`.
  void CloseIdle(std::chrono::milliseconds idle);
  /// Closes all scanners. A scanner that is fetching is closed when its fetch ends.
  void Clear();
  [[nodiscard]] size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<Scanner> scanner;
    uint64_t connection = 0;
    int users = 0;
    std::chrono::steady_clock::time_point last_use;
  };

  const size_t scanners_max_;
  const size_t per_connection_max_;
  mutable Mutex mutex_;
  std::map<int32_t, Entry> entries_ GUARDED_BY(mutex_);
  uint32_t next_id_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hg::thrift2
