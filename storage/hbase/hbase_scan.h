#pragma once
// A scan through a gateway. Inside of this folder only.

#include "storage/hbase/client.h"
#include "storage/store.h"

namespace hg::hbase {

/// The gateway keeps the position; if it forgets it, or is lost, the scan is opened again behind
/// the last row that came (spec hbase-backend.md §3, §8). No connection is held between two
/// fetches.
class HbaseScan : public ScanCursor {
 public:
  /// Opens it and fetches the first rows, so that a table that is missing is heard of now. The
  /// client outlives it.
  static Result<std::unique_ptr<ScanCursor>> Open(Client* client, const ScanSpec& spec);
  ~HbaseScan() override;

  Status Next(std::vector<Row>* rows) override;
  [[nodiscard]] uint64_t rows_examined() const override { return examined_; }

 private:
  /// A position that a gateway keeps.
  struct Scanner {
    int32_t id = 0;
    size_t gateway = 0;
    uint64_t epoch = 0;
  };

  HbaseScan(Client* client, const ScanSpec& spec);

  /// Whether no row can be in the range.
  [[nodiscard]] bool EmptyRange() const;
  /// Whether no row can be left behind the last one that came.
  [[nodiscard]] bool AtEnd() const;
  [[nodiscard]] wire::TScan Describe() const;
  /// The next rows as they come; sets done_ where there are none.
  Status Fetch();
  Status Fetch(int* attempts);
  Attempt FetchOnce(Deadline deadline, std::vector<wire::TResult>* results, bool* forgotten);
  void Keep(std::vector<wire::TResult> results);
  [[nodiscard]] int32_t RowsToFetch() const;
  void Close();

  Client* const client_;
  const ScanSpec spec_;
  size_t fetch_rows_;
  size_t row_bytes_ = 0;  // of a row of the last fetch, about
  std::optional<Scanner> scanner_;
  std::optional<Bytes> last_;  // the last key that came
  std::vector<Row> ready_;     // came, passed, and are not given yet
  size_t given_of_ready_ = 0;
  uint64_t given_ = 0;
  uint64_t examined_ = 0;
  bool done_ = false;
};

}  // namespace hg::hbase
