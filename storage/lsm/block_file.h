#pragma once
// An immutable file of rows sorted by key, in checksummed blocks with an index and, where asked
// for, a filter of its keys (FORMAT.md "Block file"). A block is stored as the file's packer makes
// it, or compressed, where that saves enough, else as it is.

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/lsm/block_cache.h"

namespace hg::lsm {

/// A form of blocks for entries of a known kind. Thread-safe.
class BlockPacker {
 public:
  virtual ~BlockPacker() = default;
  /// Appends the packed form of entries as they stand in a block. False: they are not of the kind.
  virtual bool Pack(ByteView entries, Bytes* packed) const = 0;
  /// Replaces *entries. False: the bytes cannot have been packed.
  virtual bool Unpack(ByteView packed, Bytes* entries) const = 0;
};

/// How a block is stored: the first byte of it.
enum class Packing : uint8_t { kPlain = 0, kSnappy = 1, kByPacker = 2, kZstd = 3 };

/// How a file is written.
struct BlockWriting {
  const BlockPacker* packer = nullptr;  // tried first; outlives the writer
  Packing packing = Packing::kSnappy;   // kPlain, kSnappy or kZstd: of the other blocks
  size_t block_bytes = 32 << 10;  // before that: a block ends with the entry that reaches them
  bool bloom = false;             // with a filter: gets of absent keys seldom read a block
};

/// From the first to the last time of what a file holds, both included; min > max: nothing, or
/// nobody knows.
struct TimeSpan {
  int64_t min_ms = std::numeric_limits<int64_t>::max();
  int64_t max_ms = std::numeric_limits<int64_t>::min();

  [[nodiscard]] bool known() const { return min_ms <= max_ms; }
  /// Some time is in both.
  [[nodiscard]] bool Meets(const TimeSpan& other) const {
    return min_ms <= other.max_ms && other.min_ms <= max_ms;
  }
  void Add(int64_t time_ms) {
    min_ms = std::min(min_ms, time_ms);
    max_ms = std::max(max_ms, time_ms);
  }
};

/// What the readers of a store's files did. Thread-safe.
struct ReadCounters {
  std::atomic<uint64_t> blocks{0};            // read from the disk
  std::atomic<uint64_t> skipped_by_bloom{0};  // gets that did not look into a file
  std::atomic<uint64_t> skipped_by_time{0};   // reads that did not: it holds other times
  std::atomic<uint64_t> forgotten_bytes{0};   // of files that the page cache was told to forget
};

/// How a file is read.
struct BlockReading {
  const BlockPacker* packer = nullptr;          // for blocks that one packed; outlives the file
  std::shared_ptr<BlockCache> cache = {};       // null: its blocks are not kept
  bool in_memory = false;                       // they are of the cache's highest class
  std::shared_ptr<ReadCounters> counters = {};  // null: nobody counts
};

/// What a reader of blocks does with the cache.
enum class CacheUse : uint8_t {
  kKeep,  // finds blocks in it, and leaves in it what it reads
  kFind,  // finds blocks in it
  kPast,  // reads the disk: who will not come again, and who checks the disk
};

/// One thread at a time. Add in ascending key order, then Finish; the file counts for nothing
/// before.
class BlockFileWriter {
 public:
  /// Who reads the file needs the packer, too.
  static Result<std::unique_ptr<BlockFileWriter>> Create(FileSystem& files, const std::string& path,
                                                         const BlockWriting& writing = {});
  ~BlockFileWriter();

  Status Add(ByteView key, ByteView value);
  /// A time of the entries added; without a call the file does not say from when they are.
  void AddTime(int64_t time_ms) { times_.Add(time_ms); }
  /// Writes the rest and syncs the file (not its folder).
  Status Finish();
  [[nodiscard]] uint64_t entries() const { return entries_; }
  [[nodiscard]] uint64_t bytes() const { return offset_; }

 private:
  struct BlockEntry {
    Bytes first_key;
    uint64_t offset;
    uint64_t size;
  };
  BlockFileWriter(std::unique_ptr<File> file, const BlockWriting& writing);
  bool PackBlock();
  bool CompressBlock();
  Status EndBlock();
  Status Write(ByteView bytes);

  std::unique_ptr<File> file_;
  const BlockWriting writing_;
  TimeSpan times_;
  std::vector<uint64_t> hashes_;  // of the keys, for the filter
  uint64_t offset_ = 0;
  uint64_t entries_ = 0;
  Bytes block_;
  Bytes packed_;
  Bytes block_first_;
  Bytes last_key_;
  std::vector<BlockEntry> index_;
};

/// Immutable, thread-safe. Index and filter are in memory.
class BlockFile {
 public:
  static Result<std::shared_ptr<const BlockFile>> Open(FileSystem& files, const std::string& path,
                                                       const BlockReading& reading = {});
  ~BlockFile();

  /// False if there is no such entry.
  Result<bool> Get(ByteView key, Bytes* value) const;
  [[nodiscard]] uint64_t entries() const { return entries_; }
  [[nodiscard]] const TimeSpan& times() const { return times_; }
  /// What its blocks begin with, in order.
  [[nodiscard]] std::vector<Bytes> FirstKeys() const;
  [[nodiscard]] size_t blocks() const { return index_.size(); }
  [[nodiscard]] const Bytes& first_key(size_t block) const { return index_[block].first_key; }
  /// The entries of one block as it is on the disk, in order; a failing visit ends it. Corruption:
  /// file and offset.
  Status ReadEntries(size_t block,
                     const std::function<Status(ByteView key, ByteView value)>& visit) const;
  /// Reads every block. Corruption: file and offset.
  static Status Check(const std::shared_ptr<const BlockFile>& file);
  /// Whether it may hold something of that time; where not, the reader is counted as spared.
  [[nodiscard]] bool MayHoldTime(const TimeSpan& times) const;
  /// The page cache need not keep it (spec region-store.md F6).
  void ForgetCached() const;
  [[nodiscard]] Status Damaged(uint64_t offset, const char* what) const;

 private:
  friend class BlockFileScan;
  struct BlockEntry {
    Bytes first_key;
    uint64_t offset;
    uint64_t size;
  };
  BlockFile(std::unique_ptr<File> file, std::string path, const BlockReading& reading)
      : file_(std::move(file)),
        path_(std::move(path)),
        reading_(reading),
        cache_number_(reading.cache != nullptr ? reading.cache->NewFile() : 0) {}
  Status Load();
  Status LoadBloom(uint64_t offset, uint64_t size, uint32_t crc);
  Status LoadIndex(uint64_t offset, uint64_t size, uint32_t crc);
  [[nodiscard]] bool MayHold(ByteView key) const;  // false: it certainly does not
  Result<std::shared_ptr<const Bytes>> ReadBlock(size_t i, CacheUse use) const;
  Status ReadFromDisk(size_t i, Bytes* block) const;
  Status Unpack(uint64_t offset, Packing packing, ByteView stored, Bytes* block) const;
  /// The block that may hold the key: the last whose first key is not after it, else the first.
  [[nodiscard]] size_t BlockOf(ByteView key) const;

  const std::unique_ptr<File> file_;
  const std::string path_;
  const BlockReading reading_;
  const uint64_t cache_number_;  // of the file in the cache
  Bytes bloom_;                  // empty: there is none
  TimeSpan times_;
  char version_ = 0;  // of the format (FORMAT.md)
  uint64_t entries_ = 0;
  std::vector<BlockEntry> index_;
};

/// Entries in [start, stop) ("" = no end), ascending. Keeps the file open. One thread at a time.
class BlockFileScan {
 public:
  BlockFileScan(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                CacheUse use = CacheUse::kKeep);

  /// Moves to the next entry; false at the end.
  Result<bool> Next();
  /// Goes on at the first entry ≥ start instead; cheap within the current block.
  void Seek(Bytes start);
  /// Of the entry moved to; until the next Next.
  [[nodiscard]] const Bytes& key() const { return key_; }
  [[nodiscard]] ByteView value() const { return value_; }
  /// What value() is in: it stays as long as this does.
  [[nodiscard]] const std::shared_ptr<const Bytes>& block() const { return block_; }
  /// Corruption at the current block, for a value that cannot be decoded.
  [[nodiscard]] Status Damaged(const char* what) const;

 private:
  const std::shared_ptr<const BlockFile> file_;
  Bytes start_;
  const Bytes stop_;
  const CacheUse use_;
  size_t next_;
  std::shared_ptr<const Bytes> block_;  // null: none was read
  ByteView in_;
  Bytes key_;
  ByteView value_;
};

}  // namespace hg::lsm
