#pragma once
// The TSUIDs of series by number. A sweep that forgets series replaces the table by a table without
// these series. A reader of TSUIDs keeps the table in which it found its series numbers, so the
// reader can still read the TSUIDs of series that are forgotten meanwhile. When the last of these
// readers ends, the memory of the forgotten series is freed. The TSUIDs of older series are in
// mapped files (mapped_series.h).

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/invariant.h"
#include "storage/engine/arena.h"
#include "storage/engine/mapped_series.h"
#include "storage/engine/number_set.h"

namespace hg::engine {

/// The series of a registry that are in mapped files. MappedRanges is a plain value.
struct MappedRanges {
  std::vector<std::shared_ptr<const MappedSeries>> ranges;  // ascending, without overlaps
  /// Each series with a number below `end` is in one of the ranges, or was forgotten. `end` is a
  /// multiple of MappedSeries::kBlockSeries.
  uint32_t end = 0;
};

/// A table of TSUIDs by series number. Tsuid and FindTsuid are thread-safe. Only one thread at a
/// time may call the other functions.
class TsuidTable {
  class Block;

 public:
  /// The blocks of a table. The index is number >> kBits. Several tables may share a block.
  using Blocks = std::vector<std::shared_ptr<Block>>;

  /// `bytes` counts the total memory of the blocks of all TsuidTable objects that share this
  /// counter.
  explicit TsuidTable(std::shared_ptr<std::atomic<size_t>> bytes, MappedRanges mapped = {})
      : bytes_(std::move(bytes)),
        mapped_(std::move(mapped)),
        mapped_blocks_(mapped_.end >> kBits),
        top_(new std::atomic<Block*>[kTop]()) {
    for (const auto& range : mapped_.ranges) {
      for (uint32_t at = range->begin() >> kBits; at < range->end() >> kBits; ++at) {
        mapped_blocks_[at] = range.get();
      }
    }
  }

  /// Returns the TSUID of a series that is in the table. The result is valid as long as the table
  /// exists.
  [[nodiscard]] ByteView Tsuid(uint32_t number) const {
    const ByteView tsuid = FindTsuid(number);
    INVARIANT(!tsuid.empty());
    return tsuid;
  }
  /// Returns the TSUID of a series, or "" if the series is not in the table. The table may also
  /// contain forgotten series.
  [[nodiscard]] ByteView FindTsuid(uint32_t number) const {
    const size_t at = number >> kBits;
    if (const Block* const block = top_[at].load(std::memory_order_acquire)) {
      const Name* const name = block->Get(number & kMask);
      return name == nullptr ? ByteView() : ByteView(name->bytes, name->size);
    }
    if (at >= mapped_blocks_.size() || mapped_blocks_[at] == nullptr) return {};
    return mapped_blocks_[at]->Tsuid(number);
  }
  /// The series in mapped files. They do not change as long as the table exists.
  [[nodiscard]] const MappedRanges& mapped() const { return mapped_; }

  /// Adds a series that is not in the table, and returns a view of the stored TSUID. Tables that
  /// share the block of this series number must not be changed at the same time. Series below
  /// mapped().end cannot be added.
  ByteView Set(uint32_t number, ByteView tsuid) {
    INVARIANT(number >= mapped_.end);
    const size_t at = number >> kBits;
    if (at >= blocks_.size()) blocks_.resize(at + 1);
    if (blocks_[at] == nullptr) Use(at, std::make_shared<Block>(bytes_));
    return blocks_[at]->Set(number & kMask, tsuid);
  }
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }
  /// Adds to this table those blocks of `blocks` that are after the last block of this table.
  void ShareNew(const Blocks& blocks) {
    for (size_t at = blocks_.size(); at < blocks.size(); ++at) Use(at, blocks[at]);
  }
  /// Adds blocks to this table, as ShareNew does. This table must be empty. Leaves out each block
  /// in which at least an eighth of the series are forgotten; the caller must add the other series
  /// of these blocks. The block of the number `end`, which may be unassigned, is always shared.
  /// Blocks of series that are mapped in this table are left out.
  void ShareWithout(const Blocks& blocks, const NumberSet& forgotten, uint32_t end) {
    for (size_t at = 0; at < blocks.size(); ++at) {
      const auto begin = static_cast<uint32_t>(at << kBits);
      if (at < mapped_blocks_.size() || blocks[at] == nullptr ||
          (end - begin > kMask && blocks[at]->HasMany(begin, forgotten))) {
        blocks_.emplace_back();
      } else {
        Use(at, blocks[at]);
      }
    }
  }

 private:
  static constexpr int kBits = MappedSeries::kBlockBits;
  static constexpr uint32_t kMask = (1u << kBits) - 1;
  static constexpr size_t kTop = size_t{1} << (32 - kBits);
  static constexpr size_t kAreaBytes = 16 << 10;
  // A block is copied without its forgotten series if at least one in kOutdatedShare of its series
  // is forgotten.
  static constexpr uint32_t kOutdatedShare = 8;

  struct Name {
    uint16_t size;
    char bytes[];
  };
  class Block {
   public:
    explicit Block(std::shared_ptr<std::atomic<size_t>> bytes) : bytes_(std::move(bytes)) {
      *bytes_ += sizeof(*this);
    }
    ~Block() { *bytes_ -= sizeof(*this) + arena_.bytes(); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    [[nodiscard]] const Name* Get(uint32_t i) const {
      return names_[i].load(std::memory_order_acquire);
    }
    ByteView Set(uint32_t i, ByteView tsuid) {
      INVARIANT(tsuid.size() <= UINT16_MAX && Get(i) == nullptr);
      const size_t before = arena_.bytes();
      auto* name = reinterpret_cast<Name*>(arena_.Take(sizeof(Name) + tsuid.size()));
      if (arena_.bytes() != before) *bytes_ += arena_.bytes() - before;
      name->size = static_cast<uint16_t>(tsuid.size());
      std::memcpy(name->bytes, tsuid.data(), tsuid.size());
      names_[i].store(name, std::memory_order_release);
      ++count_;
      return {name->bytes, name->size};
    }
    /// Returns whether at least one in kOutdatedShare of the series in this block is forgotten.
    /// `begin` is the first series number of the block.
    [[nodiscard]] bool HasMany(uint32_t begin, const NumberSet& forgotten) const {
      uint32_t many = 0;
      for (uint32_t i = 0; i <= kMask; ++i) {
        if (forgotten.Has(begin + i) && Get(i) != nullptr) ++many;
      }
      return many > 0 && many >= count_ / kOutdatedShare;
    }

   private:
    std::atomic<const Name*> names_[size_t{1} << kBits] = {};
    uint32_t count_ = 0;
    Arena arena_{alignof(Name), kAreaBytes};
    const std::shared_ptr<std::atomic<size_t>> bytes_;
  };

  void Use(size_t at, std::shared_ptr<Block> block) {
    if (at >= blocks_.size()) blocks_.resize(at + 1);
    top_[at].store(block.get(), std::memory_order_release);
    blocks_[at] = std::move(block);
  }

  const std::shared_ptr<std::atomic<size_t>> bytes_;
  const MappedRanges mapped_;
  std::vector<const MappedSeries*> mapped_blocks_;    // index: number >> kBits; null = no series
  const std::unique_ptr<std::atomic<Block*>[]> top_;  // pointers to the blocks in blocks_
  Blocks blocks_;
};

}  // namespace hg::engine
