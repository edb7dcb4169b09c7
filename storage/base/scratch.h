#pragma once
// A buffer for one batch that reuses the memory of the thread's previous batch. Batches of usual
// size then need no new memory. Memory for very large batches is freed after use.

#include <cstddef>
#include <utility>
#include <vector>

namespace hg {

template <typename T>
class Scratch {
 public:
  /// Maximum size in bytes of a buffer whose memory is kept for reuse.
  static constexpr size_t kKeptBytes = size_t{2} << 20;

  /// `kept` is the buffer of the thread. This object owns the memory of `kept` until the
  /// destructor. A nested Scratch on the same thread, for example in a callback, allocates its own
  /// memory.
  Scratch(std::vector<T>* kept, size_t size) : kept_(*kept) {
    if (size * sizeof(T) <= kKeptBytes) room_ = std::move(*kept);
    if (room_.size() < size) room_.resize(size);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (room_.size() * sizeof(T) <= kKeptBytes && room_.size() > kept_.size()) {
      kept_ = std::move(room_);
    }
  }

  /// Returns the buffer: `size` elements with unspecified content.
  T* data() { return room_.data(); }
  T& operator[](size_t i) { return room_[i]; }

 private:
  std::vector<T> room_;
  std::vector<T>& kept_;
};

}  // namespace hg
