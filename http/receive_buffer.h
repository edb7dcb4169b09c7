#pragma once
// Bytes received and not yet used, in one piece, with room behind for simdjson's reading ahead.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "http/wire/put_json.h"

namespace hg::http {

/// One thread at a time.
class ReceiveBuffer {
 public:
  [[nodiscard]] char* data() { return data_.get() + begin_; }
  [[nodiscard]] size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::string_view view() const { return {data_.get() + begin_, size()}; }

  /// Makes room for `size` bytes in all, at least; may move what is there.
  void Reserve(size_t size) {
    if (begin_ + size <= capacity_) return;
    if (size <= capacity_) {
      std::memmove(data_.get(), data(), this->size());
    } else {
      auto bigger = std::make_unique_for_overwrite<char[]>(size + kPutPadding);
      if (this->size() > 0) std::memcpy(bigger.get(), data(), this->size());
      data_ = std::move(bigger);
      capacity_ = size;
    }
    end_ -= begin_;
    begin_ = 0;
  }

  /// Where bytes may be received, and how many.
  [[nodiscard]] char* room() { return data_.get() + end_; }
  [[nodiscard]] size_t room_size() const { return capacity_ - end_; }
  void Grow(size_t received) { end_ += received; }

  void Consume(size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Gives the memory back; only when empty.
  void Release() {
    data_.reset();
    capacity_ = begin_ = end_ = 0;
  }
  /// Gives back most of what is more than `kept` bytes; what is there stays.
  void Trim(size_t kept) {
    // Where the half is in use it waits: requests behind each other are not moved at each one's
    // end.
    if (capacity_ <= kept || 2 * size() > capacity_) return;
    ReceiveBuffer smaller;
    if (size() > 0) {
      smaller.Reserve(size());
      std::memcpy(smaller.room(), data(), size());
      smaller.Grow(size());
    }
    *this = std::move(smaller);
  }
  [[nodiscard]] size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<char[]> data_;               // capacity_ + kPutPadding
  size_t capacity_ = 0, begin_ = 0, end_ = 0;  // all 0 without data_
};

}  // namespace hg::http
