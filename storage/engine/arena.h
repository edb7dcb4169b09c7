#pragma once
// Two containers whose memory only grows and is freed all at once. A memtable uses both for its
// rows. A table of TSUIDs uses an Arena for each block.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hg::engine {

/// An allocator that one thread at a time may use. Any thread may call bytes(). The arena takes
/// memory from the heap in areas. Each area is twice as large as the one before, up to a maximum.
class Arena {
 public:
  /// `alignment` is the alignment of all allocations in bytes: a power of two, at most 16.
  /// `area_max` is the maximum size of an area, unless one allocation needs more.
  explicit Arena(size_t alignment = 8, size_t area_max = 2 << 20)
      : alignment_(alignment), area_max_(area_max), next_size_(std::min(kAreaMin, area_max)) {}

  /// Returns uninitialised memory, valid as long as the arena exists. May throw std::bad_alloc.
  char* Take(size_t bytes) {
    bytes = (bytes + alignment_ - 1) & ~(alignment_ - 1);
    if (bytes > left_) Grow(bytes);
    char* p = next_;
    next_ += bytes;
    left_ -= bytes;
    return p;
  }
  /// Returns the total size of all areas in bytes.
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void Grow(size_t at_least) {
    const size_t size = std::max(at_least, next_size_);
    next_size_ = std::min(next_size_ * 2, area_max_);
    chunks_.push_back(std::unique_ptr<char[]>(new char[size]));
    next_ = chunks_.back().get();
    left_ = size;
    bytes_.fetch_add(size, std::memory_order_relaxed);
  }

  static constexpr size_t kAreaMin = 64 << 10;
  const size_t alignment_;
  const size_t area_max_;
  size_t next_size_;
  char* next_ = nullptr;
  size_t left_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::atomic<size_t> bytes_{0};
};

/// An array of pointers, indexed by series number. The array does not own the objects. A slot that
/// was not set is null. One thread at a time may call Set, while any number of threads read (see
/// also BlockOf). Set may throw std::bad_alloc, and then changes nothing.
template <typename T>
class SlotTable {
 public:
  SlotTable() : top_(new std::atomic<Chunk*>[kTop]()) {}
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable() {
    for (size_t i = 0; i < kTop; ++i) delete top_[i].load(std::memory_order_relaxed);
  }

  [[nodiscard]] T* Get(uint32_t i) const {
    const Chunk* chunk = top_[i >> kBits].load(std::memory_order_acquire);
    return chunk ? chunk->slots[i & kMask].load(std::memory_order_acquire) : nullptr;
  }
  void Set(uint32_t i, T* value) {
    Chunk* chunk = top_[i >> kBits].load(std::memory_order_relaxed);
    if (chunk == nullptr) {
      chunk = new Chunk();
      top_[i >> kBits].store(chunk, std::memory_order_release);
      bytes_.fetch_add(sizeof(Chunk), std::memory_order_relaxed);
    }
    chunk->slots[i & kMask].store(value, std::memory_order_release);
  }
  void Prefetch(uint32_t i) const {
    if (const Chunk* chunk = top_[i >> kBits].load(std::memory_order_relaxed)) {
      __builtin_prefetch(&chunk->slots[i & kMask]);
    }
  }
  /// Calls visit(i) for each slot that is set, in ascending order of i.
  template <typename Visit>
  void ForEachSet(Visit&& visit) const {
    for (uint32_t top = 0; top < kTop; ++top) {
      const Chunk* chunk = top_[top].load(std::memory_order_acquire);
      if (chunk == nullptr) continue;
      for (uint32_t i = 0; i <= kMask; ++i) {
        if (chunk->slots[i].load(std::memory_order_acquire) != nullptr) visit(top << kBits | i);
      }
    }
  }
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Returns the number of the block that contains slot `i`. Several threads may write to the array
  /// at the same time if they write to different blocks.
  [[nodiscard]] static uint32_t BlockOf(uint32_t i) { return i >> kBits; }

 private:
  static constexpr int kBits = 14;
  static constexpr uint32_t kMask = (1u << kBits) - 1;
  static constexpr size_t kTop = size_t{1} << (32 - kBits);
  struct Chunk {
    std::atomic<T*> slots[size_t{1} << kBits] = {};
  };
  const std::unique_ptr<std::atomic<Chunk*>[]> top_;
  std::atomic<size_t> bytes_{0};
};

}  // namespace hg::engine
