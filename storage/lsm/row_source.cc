#include "storage/lsm/row_source.h"

#include "storage/base/invariant.h"

namespace hg::lsm {
namespace {

constexpr size_t kBatchRows = 64;

class MemorySource : public RowSource {
 public:
  MemorySource(const CellMemory& memory, Bytes start, Bytes stop)
      : memory_(memory), from_(std::move(start)), stop_(std::move(stop)) {}

  Result<bool> Next() override {
    if (++at_ < batch_.size()) return true;
    if (started_ && batch_.size() < kBatchRows) {
      at_ = batch_.size();
      return false;
    }
    batch_.clear();
    memory_.Copy(from_, started_, stop_, kBatchRows, &batch_);
    INVARIANT(batch_.size() <= kBatchRows);
    INVARIANT(!started_ || batch_.empty() || batch_.front().key > from_);
    started_ = true;
    at_ = 0;
    if (batch_.empty()) return false;
    from_ = batch_.back().key;
    return true;
  }
  void Seek(Bytes start) override {
    while (++at_ < batch_.size() && batch_[at_].key < start) continue;
    if (at_ < batch_.size()) {
      --at_;
      return;
    }
    batch_.clear();
    at_ = static_cast<size_t>(-1);
    from_ = std::move(start);
    started_ = false;
  }
  [[nodiscard]] const Bytes& key() const override {
    INVARIANT(at_ < batch_.size());
    return batch_[at_].key;
  }
  Result<bool> TakePiece(const ColumnChoice& wanted, MemoryTally* memory, CellRow* row) override {
    INVARIANT(at_ < batch_.size());
    INVARIANT(row->empty());  // the only piece is the whole row
    KeyedRow& found = batch_[at_];
    if (found.left_out) {
      RETURN_IF_ERROR(memory_.Get(found.key, wanted, memory, row).status());
      return false;
    }
    if (memory != nullptr) {
      const size_t cells = found.row.cells.size() + found.row.versions.size();
      RETURN_IF_ERROR(ChargeRow(cells, found.row.MemoryBytes(), memory));
    }
    found.row.Keep(wanted);
    *row = std::move(found.row);
    return false;
  }

 private:
  const CellMemory& memory_;
  Bytes from_;
  const Bytes stop_;
  bool started_ = false;
  std::vector<KeyedRow> batch_;
  size_t at_ = static_cast<size_t>(-1);
};

}  // namespace

Result<CellRow> RowSource::TakeRow(const ColumnChoice& wanted, MemoryTally* memory) {
  CellRow row;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, TakePiece(wanted, memory, &row));
  }
  return row;
}

std::unique_ptr<RowSource> ScanMemory(const CellMemory& memory, Bytes start, Bytes stop) {
  return std::make_unique<MemorySource>(memory, std::move(start), std::move(stop));
}

// There are few sources, so a linear search for the smallest key is faster than a heap.
Result<bool> MergedRows::Next() {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (started_ && !(live_[i] && sources_[i]->key() == key_)) continue;
    ASSIGN_OR_RETURN(live_[i], sources_[i]->Next());
  }
  started_ = true;
  const Bytes* least = nullptr;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (live_[i] && (least == nullptr || sources_[i]->key() < *least)) least = &sources_[i]->key();
  }
  if (least == nullptr) return false;
  key_ = *least;
  return true;
}

std::vector<RowSource*> MergedRows::Sources() const {
  INVARIANT(started_);
  std::vector<RowSource*> sources;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (live_[i] && sources_[i]->key() == key_) sources.push_back(sources_[i].get());
  }
  return sources;
}

Result<CellRow> MergedRows::TakeRow() {
  CellRow row;
  for (RowSource* source : Sources()) {
    ASSIGN_OR_RETURN(CellRow older, source->TakeRow());
    row = MergeRows(order_, std::move(row), std::move(older));
  }
  return row;
}

}  // namespace hg::lsm
