#pragma once
// Writes rows to several parts, such as one part for each time window. Callers must add the rows in
// sorted order.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "storage/engine/part_writer.h"

namespace hg::engine {

/// Writes the rows of one flush or merge to several parts. Use a PartSet on one thread at a time.
/// After a failure, the files of all its parts are unusable, and the caller must remove them.
class PartSet {
 public:
  /// A function that returns a number, which selects the part for a row. Rows with the same number
  /// go to the same part. `base` is the base time of the row, or nullopt for a row that does not
  /// belong to a series.
  using Choose = std::function<uint64_t(std::optional<uint32_t> base)>;
  /// A function that creates the manifest entry of a part. The PartSet calls it for the part's
  /// first row.
  using NewEntry = std::function<lsm::PartEntry()>;

  /// The PartSet passes `folder`, `table`, `registry` and `density` to the PartWriter of each part.
  /// It appends the manifest entry of each part to `entries`, which must outlive the PartSet.
  PartSet(FileSystem& files, std::string folder, const KeyLayout& layout, const Table* table,
          const Registry& registry, RowDensity density, Choose choose, NewEntry new_entry,
          std::vector<lsm::PartEntry>* entries);

  // The following functions have the same contracts as the functions of PartWriter with the same
  // names.
  Status AddCells(ByteView key, const lsm::CellRow& row);
  Status AddColumns(ByteView key, const lsm::CellRow& columns);
  Status AddPoints(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
                   const points::RowPart& row_part);
  Status AddEncodedPoints(ByteView file_key, ByteView value);
  Status Finish();
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  struct Member {
    size_t entry;  // index in entries_ of the manifest entry of the part
    std::unique_ptr<PartWriter> writer;
  };
  [[nodiscard]] std::optional<uint32_t> BaseOf(ByteView key) const;
  template <typename Add>
  Status AddTo(std::optional<uint32_t> base, const Add& add);

  FileSystem& files_;
  const std::string folder_;
  const KeyLayout layout_;
  const Table* const table_;
  const Registry& registry_;
  const RowDensity density_;
  const Choose choose_;
  const NewEntry new_entry_;
  std::vector<lsm::PartEntry>* const entries_;
  std::map<uint64_t, Member> members_;
  uint64_t bytes_ = 0;
};

}  // namespace hg::engine
