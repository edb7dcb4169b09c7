#pragma once
// A scan through a gateway of HBase. Only files in storage/hbase use this file.

#include "storage/hbase/client.h"
#include "storage/store.h"

namespace hg::hbase {

/// A scan of an HBase table. The gateway keeps the position of the scan. If the gateway loses the
/// position or cannot be reached, the scan is opened again after the last received row
/// (hbase-backend.md §3, §8). The scan holds no connection between two fetches.
class HbaseScan : public ScanCursor {
 public:
  /// Opens the scan and fetches the first rows, so that an error such as a missing table is
  /// returned at once. The client must outlive the scan.
  static Result<std::unique_ptr<ScanCursor>> Open(Client* client, const ScanSpec& spec);
  ~HbaseScan() override;

  Status Next(std::vector<Row>* rows) override;
  [[nodiscard]] uint64_t rows_examined() const override { return examined_; }

 private:
  /// Identifies a scanner of a gateway. The gateway keeps the position of the scan.
  struct Scanner {
    int32_t id = 0;
    size_t gateway = 0;
    uint64_t epoch = 0;
  };

  HbaseScan(Client* client, const ScanSpec& spec);

  /// Returns whether the key range of the scan is empty.
  [[nodiscard]] bool EmptyRange() const;
  /// Returns whether no more rows can follow the last received row.
  [[nodiscard]] bool AtEnd() const;
  [[nodiscard]] wire::TScan Describe() const;
  /// Fetches the next rows. If there are no more rows, sets done_.
  Status Fetch();
  Status Fetch(int* attempts);
  Attempt FetchOnce(Deadline deadline, std::vector<wire::TResult>* results, bool* forgotten);
  void Keep(std::vector<wire::TResult> results);
  [[nodiscard]] int32_t RowsToFetch() const;
  void Close();

  Client* const client_;
  const ScanSpec spec_;
  size_t fetch_rows_;
  size_t row_bytes_ = 0;  // approximate size of one row in the last fetch, in bytes
  std::optional<Scanner> scanner_;
  std::optional<Bytes> last_;  // key of the last received row
  // The received rows that match. Rows before the index given_of_ready_ were already returned.
  std::vector<Row> ready_;
  size_t given_of_ready_ = 0;
  uint64_t given_ = 0;
  MemoryTally memory_;  // memory of the rows that the last call returned
  uint64_t examined_ = 0;
  bool done_ = false;
};

}  // namespace hg::hbase
