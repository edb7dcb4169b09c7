#include "storage/lsm/row_source.h"

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
  [[nodiscard]] const Bytes& key() const override { return batch_[at_].key; }
  CellRow TakeRow() override { return std::move(batch_[at_].row); }

 private:
  const CellMemory& memory_;
  Bytes from_;
  const Bytes stop_;
  bool started_ = false;
  std::vector<KeyedRow> batch_;
  size_t at_ = static_cast<size_t>(-1);
};

// Few sources: a linear look for the least key beats a heap.
class MergedSource : public RowSource {
 public:
  MergedSource(CellOrder order, std::vector<std::unique_ptr<RowSource>> sources)
      : order_(order), sources_(std::move(sources)), live_(sources_.size(), false) {}

  Result<bool> Next() override {
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (started_ && !(live_[i] && (sources_[i]->key() == key_ || sources_[i]->key() < sought_))) {
        continue;
      }
      ASSIGN_OR_RETURN(live_[i], sources_[i]->Next());
    }
    started_ = true;
    const Bytes* least = nullptr;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (live_[i] && (least == nullptr || sources_[i]->key() < *least))
        least = &sources_[i]->key();
    }
    if (least == nullptr) return false;
    key_ = *least;
    return true;
  }
  void Seek(Bytes start) override {
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!started_ || (live_[i] && sources_[i]->key() < start)) sources_[i]->Seek(start);
    }
    // Those before it move with the next Next, as those at key_ do.
    sought_ = std::move(start);
  }
  [[nodiscard]] const Bytes& key() const override { return key_; }
  CellRow TakeRow() override {
    CellRow row;
    bool first = true;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!live_[i] || sources_[i]->key() != key_) continue;
      row = first ? sources_[i]->TakeRow()
                  : MergeRows(order_, std::move(row), sources_[i]->TakeRow());
      first = false;
    }
    return row;
  }

 private:
  const CellOrder order_;
  std::vector<std::unique_ptr<RowSource>> sources_;
  std::vector<bool> live_;
  bool started_ = false;
  Bytes key_;
  Bytes sought_;
};

}  // namespace

std::unique_ptr<RowSource> ScanMemory(const CellMemory& memory, Bytes start, Bytes stop) {
  return std::make_unique<MemorySource>(memory, std::move(start), std::move(stop));
}

std::unique_ptr<RowSource> MergeSources(CellOrder order,
                                        std::vector<std::unique_ptr<RowSource>> sources) {
  return std::make_unique<MergedSource>(order, std::move(sources));
}

}  // namespace hg::lsm
