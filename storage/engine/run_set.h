#pragma once
// Distributes rows that come in sorted order over several parts, such as one for each time window.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "storage/engine/run_writer.h"

namespace hg::points {

/// One thread at a time. After a failure the files of all entries are unusable.
class RunSet {
 public:
  /// Returns the key of the part for a row, from its base time. No base: the row belongs to no
  /// series.
  using Choose = std::function<uint64_t(std::optional<uint32_t> base)>;
  /// Creates the entry of a part when its first row comes.
  using NewEntry = std::function<lsm::RunEntry()>;

  /// `folder` and `table` are those of RunWriter. The entries of the parts are appended to
  /// `entries`.
  RunSet(FileSystem& files, std::string folder, const KeyLayout& layout, const Table* table,
         RowDensity density, Choose choose, NewEntry new_entry,
         std::vector<lsm::RunEntry>* entries);

  // The following functions do the same as those of RunWriter.
  Status AddCells(ByteView key, const lsm::CellRow& row);
  Status AddPoints(ByteView tsuid, uint32_t base, const Part& part);
  Status AddEncodedPoints(ByteView file_key, ByteView value);
  Status Finish();
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  struct Member {
    size_t entry;  // index of the part's entry in entries_
    std::unique_ptr<RunWriter> writer;
  };
  template <typename Add>
  Status AddTo(std::optional<uint32_t> base, const Add& add);

  FileSystem& files_;
  const std::string folder_;
  const KeyLayout layout_;
  const Table* const table_;
  const RowDensity density_;
  const Choose choose_;
  const NewEntry new_entry_;
  std::vector<lsm::RunEntry>* const entries_;
  std::map<uint64_t, Member> members_;
  uint64_t bytes_ = 0;
};

}  // namespace hg::points
