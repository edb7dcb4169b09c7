#pragma once
// Room for a batch that its thread keeps for the next one, so that a batch of the usual size
// allocates nothing; what a rare giant needs goes with it.

#include <cstddef>
#include <vector>

namespace hg {

template <typename T>
class Scratch {
 public:
  /// Room that is kept; a larger batch has its own.
  static constexpr size_t kKeptBytes = size_t{2} << 20;

  /// `kept`: the thread's, and of this object alone while it lives.
  Scratch(std::vector<T>* kept, size_t size) : room_(size * sizeof(T) > kKeptBytes ? &own_ : kept) {
    if (room_->size() < size) room_->resize(size);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// `size` elements; what they hold is not said.
  T* data() { return room_->data(); }
  T& operator[](size_t i) { return (*room_)[i]; }

 private:
  std::vector<T> own_;
  std::vector<T>* const room_;
};

}  // namespace hg
