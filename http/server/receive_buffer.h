#pragma once
// A contiguous buffer for received bytes that are still needed. The buffer has kPutPadding more
// bytes of memory after its end, because simdjson reads beyond the end of its input.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "http/wire/put_json.h"

namespace hg::http {

/// A receive buffer. Only one thread at a time may use it.
class ReceiveBuffer {
 public:
  [[nodiscard]] char* data() { return data_.get() + begin_; }
  [[nodiscard]] size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::string_view view() const { return {data_.get() + begin_, size()}; }

  /// Makes sure that the contents, including those that are already in the buffer, may have up to
  /// `size` bytes. May move the contents, so pointers into the buffer become invalid.
  void Reserve(size_t size) {
    if (begin_ + size <= capacity_) return;
    if (size <= capacity_) {
      std::memmove(data_.get(), data(), this->size());
    } else {
      auto bigger = std::make_unique_for_overwrite<char[]>(size + kPutPadding);
      if (this->size() > 0) std::memcpy(bigger.get(), data(), this->size());
      data_ = std::move(bigger);
      capacity_ = size;
      written_ = this->size();
    }
    end_ -= begin_;
    begin_ = 0;
  }

  /// `room` returns the start of the free space after the contents, into which bytes can be
  /// received; `room_size` returns the size of this space.
  [[nodiscard]] char* room() { return data_.get() + end_; }
  [[nodiscard]] size_t room_size() const { return capacity_ - end_; }
  void Grow(size_t received) {
    end_ += received;
    written_ = std::max(written_, end_);
  }

  void Consume(size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Frees the memory of the buffer. Call this function only when the buffer is empty.
  void Release() {
    data_.reset();
    capacity_ = begin_ = end_ = written_ = 0;
  }
  /// If the capacity exceeds `kept` bytes and the contents fill at most half of it, reduces the
  /// capacity to the size of the contents. Does not change the contents, but may move them.
  void Trim(size_t kept) {
    // A buffer that is more than half full is not shrunk. Otherwise, if a client pipelines
    // requests, the contents would be copied after each request.
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
  /// Returns how many bytes at the front of the buffer were ever written. The operating system
  /// provides physical memory only for these bytes.
  [[nodiscard]] size_t written() const { return written_; }

 private:
  std::unique_ptr<char[]> data_;  // memory of capacity_ + kPutPadding bytes
  /// Sizes and positions in bytes; all are 0 if data_ is null.
  size_t capacity_ = 0, begin_ = 0, end_ = 0, written_ = 0;
};

}  // namespace hg::http
