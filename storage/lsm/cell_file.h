#pragma once
// An immutable file of rows sorted by key, in checksummed blocks with an index (FORMAT.md "Cell
// file").

#include <memory>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/row_source.h"

namespace hg::lsm {

/// One thread at a time. Add in ascending key order, then Finish; the file counts for nothing
/// before.
class CellFileWriter {
 public:
  static Result<std::unique_ptr<CellFileWriter>> Create(FileSystem& files, const std::string& path);
  ~CellFileWriter();

  Status Add(ByteView key, const CellRow& row);
  /// Writes the rest and syncs the file (not its folder).
  Status Finish();
  [[nodiscard]] uint64_t rows() const { return rows_; }
  [[nodiscard]] uint64_t bytes() const { return offset_; }

 private:
  struct BlockEntry {
    Bytes first_key;
    uint64_t offset;
    uint64_t size;
  };
  explicit CellFileWriter(std::unique_ptr<File> file);
  Status EndBlock();
  Status Write(ByteView bytes);

  std::unique_ptr<File> file_;
  uint64_t offset_ = 0;
  uint64_t rows_ = 0;
  Bytes block_;
  Bytes block_first_;
  Bytes last_key_;
  Bytes row_;
  std::vector<BlockEntry> index_;
};

/// Immutable, thread-safe. The index is in memory.
class CellFile : public std::enable_shared_from_this<CellFile> {
 public:
  static Result<std::shared_ptr<const CellFile>> Open(FileSystem& files, const std::string& path);

  /// False if there is no such row.
  Result<bool> Get(ByteView key, CellRow* row) const;
  /// Rows in [start, stop); keeps the file open.
  [[nodiscard]] std::unique_ptr<RowSource> Scan(Bytes start, Bytes stop) const;
  [[nodiscard]] uint64_t rows() const { return rows_; }
  /// Reads every block. Corruption: file and offset.
  Status Check() const;

 private:
  friend class CellFileScan;
  struct BlockEntry {
    Bytes first_key;
    uint64_t offset;
    uint64_t size;
  };
  CellFile(std::unique_ptr<File> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status Load();
  Status ReadBlock(size_t i, Bytes* block) const;
  [[nodiscard]] Status Damaged(uint64_t offset, const char* what) const;
  /// The block that may hold the key: the last whose first key is not after it, else the first.
  [[nodiscard]] size_t BlockOf(ByteView key) const;

  const std::unique_ptr<File> file_;
  const std::string path_;
  uint64_t rows_ = 0;
  std::vector<BlockEntry> index_;
};

}  // namespace hg::lsm
