#include <algorithm>

#include "storage/lsm/block_file.h"
#include "storage/lsm/block_layout.h"
#include "storage/lsm/placed_block.h"

namespace hg::lsm {

BlockFileScan::BlockFileScan(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                             CacheUse use, RequestContext* context)
    : file_(std::move(file)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      use_(use),
      context_(context),
      next_(file_->BlockOf(start_)) {}

Result<bool> BlockFileScan::Next() {
  do {
    while (in_.empty()) {
      while (next_ < file_->index_.size() && file_->continues(next_)) {
        ++next_;
        block_.reset();  // block_ must be the block before next_
      }
      if (next_ >= file_->index_.size()) return false;
      ASSIGN_OR_RETURN(block_, file_->ReadBlock(next_++, use_, context_));
      const PlacedBlock placed(*block_);
      in_ = placed.entries();
      key_.clear();
      placed.Jump(start_, &in_, &key_);
    }
    if (!TakeEntry(&in_, &key_, &value_)) return Damaged("an entry is cut short");
  } while (!start_.empty() && key_ < start_);
  start_.clear();  // all later keys are greater
  if (stop_.empty() || key_ < stop_) return true;
  in_ = {};
  next_ = file_->index_.size();
  block_.reset();  // block_ must be the block before next_
  return false;
}

Result<bool> BlockFileScan::NextPiece(const PieceChoice& wanted) {
  if (!in_.empty()) return false;  // another entry follows in its block
  const size_t end = file_->EndOfEntry(next_, key_);
  if (next_ == end) return false;
  const size_t block = file_->NextWanted(next_, end, wanted);
  next_ = std::min(block + 1, end);
  block_.reset();  // block_ must be the block before next_
  if (block == end) return false;
  RETURN_IF_ERROR(file_->ReadPiece(block, key_, use_, context_, &block_, &value_));
  return true;
}

void BlockFileScan::Seek(Bytes start) {
  start_ = std::move(start);
  const auto& index = file_->index_;
  // The target is usually in this block or the next one.
  size_t block = index.size();
  if (block_ != nullptr && !file_->continues(next_ - 1) && index[next_ - 1].separator <= start_) {
    // If block i continues the entry of the target, the entry begins in the block before.
    for (size_t i = next_; block == index.size() && i <= next_ + 1; ++i) {
      if (i >= index.size() || start_ < index[i].separator ||
          (start_ == index[i].separator && file_->continues(i))) {
        block = i - 1;
      }
    }
  }
  if (block == index.size()) block = file_->BlockOf(start_);
  if (block + 1 != next_ || block_ == nullptr) {
    next_ = block;
    in_ = {};
    block_.reset();  // block_ must be the block before next_
    return;
  }
  const PlacedBlock placed(*block_);
  if (key_ >= start_) {
    in_ = placed.entries();
    key_.clear();
  }
  placed.Jump(start_, &in_, &key_);
}

Status BlockFileScan::Damaged(const char* what) const {
  return file_->Damaged(next_ > 0 ? file_->index_[next_ - 1].offset : 0, what);
}

}  // namespace hg::lsm
