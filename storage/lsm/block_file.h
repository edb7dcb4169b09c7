#pragma once
// An immutable file of rows sorted by key, in checksummed blocks with an index and optionally a
// filter of its keys (FORMAT.md "Block file"). A block is packed by the file's packer, or
// compressed if that saves enough, or stored unchanged. A file may also have a meta block: bytes
// about its rows that this folder stores without interpreting them.

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/lsm/block_cache.h"

namespace hg::lsm {

/// An encoding of blocks for entries of one kind, such as rows of points. Thread-safe.
class BlockPacker {
 public:
  virtual ~BlockPacker() = default;
  /// Appends the packed form of the entries of a block. Returns false if the entries are not of the
  /// expected kind.
  virtual bool Pack(ByteView entries, Bytes* packed) const = 0;
  /// Sets *entries to the unpacked entries. Returns false if `packed` is not a valid packed block.
  virtual bool Unpack(ByteView packed, Bytes* entries) const = 0;
};

/// The form in which a block is stored. It is in the first byte of the block.
enum class Packing : uint8_t { kPlain = 0, kSnappy = 1, kByPacker = 2, kZstd = 3 };

/// Options for writing a file.
struct BlockWriting {
  const BlockPacker* packer = nullptr;  // tried before `packing`; must outlive the writer
  // The form of those blocks that the packer does not pack: kPlain, kSnappy or kZstd.
  Packing packing = Packing::kSnappy;
  size_t block_bytes = 32 << 10;  // a block ends when its size before compression reaches this
  // Whether the file gets a filter, with which a Get of an absent key rarely reads a block.
  bool bloom = false;
};

/// A range of times that includes both ends. If min_ms > max_ms, it is empty or unknown.
struct TimeSpan {
  int64_t min_ms = std::numeric_limits<int64_t>::max();
  int64_t max_ms = std::numeric_limits<int64_t>::min();

  [[nodiscard]] bool known() const { return min_ms <= max_ms; }
  /// Returns whether both ranges have a time in common.
  [[nodiscard]] bool Meets(const TimeSpan& other) const {
    return min_ms <= other.max_ms && other.min_ms <= max_ms;
  }
  void Add(int64_t time_ms) {
    min_ms = std::min(min_ms, time_ms);
    max_ms = std::max(max_ms, time_ms);
  }
};

/// Counts the work of all readers of a store's files. Thread-safe.
struct ReadCounters {
  std::atomic<uint64_t> blocks{0};            // number of blocks read from disk
  std::atomic<uint64_t> skipped_by_bloom{0};  // number of file accesses of gets avoided by a filter
  std::atomic<uint64_t> skipped_by_time{0};   // number of file accesses that the time span avoided
  std::atomic<uint64_t> forgotten_bytes{0};  // bytes of files that were dropped from the page cache
};

/// Options for reading a file.
struct BlockReading {
  const BlockPacker* packer = nullptr;          // decodes packed blocks; must outlive the file
  std::shared_ptr<BlockCache> cache = {};       // null: blocks are not cached
  bool in_memory = false;                       // whether blocks get the cache's highest priority
  std::shared_ptr<ReadCounters> counters = {};  // null: nothing is counted
};

/// How a reader uses the block cache.
enum class CacheUse : uint8_t {
  kKeep,  // looks up blocks, and inserts those that it reads
  kFind,  // looks up blocks, and does not insert those that it reads
  kPast,  // bypasses the cache, for readers that read once or verify the disk
};

/// A function that selects pieces of an entry. Each piece has some parts of the entry's value, in
/// order. The function returns the first wanted part that is equal to `part` or comes after it, or
/// nullopt if there is none.
using PieceChoice = std::function<std::optional<Bytes>(ByteView part)>;

/// A block in the index of its file.
struct BlockEntry {
  Bytes first_key;
  // The part with which the block begins, if the block continues the entry of an earlier block.
  // Empty: the block begins with the first part of an entry.
  Bytes first_part;
  uint64_t offset;
  uint64_t size;
};

/// Use on one thread at a time. Add entries in ascending order of keys, then call Finish. Without
/// Finish the file is unusable.
class BlockFileWriter {
 public:
  /// Creates the file. Readers of the file need the same packer.
  static Result<std::unique_ptr<BlockFileWriter>> Create(FileSystem& files, const std::string& path,
                                                         const BlockWriting& writing = {});
  ~BlockFileWriter();

  Status Add(ByteView key, ByteView value);
  /// Adds a further piece to the value of the last entry. The piece gets its own block, so that
  /// readers can select pieces (BlockFile::VisitPieces). `first` is the name of the first part of
  /// the value in this piece and must not be empty. The caller defines the order of these names.
  /// The pieces of an entry must be added in this order.
  Status AddPiece(ByteView first, ByteView value);
  /// Extends the file's time span so that it includes this time. If this function is never called,
  /// the time span of the file is unknown.
  void AddTime(int64_t time_ms) { times_.Add(time_ms); }
  /// Sets the content of the meta block. If it is empty, the file has no meta block.
  void SetMeta(Bytes meta) { meta_ = std::move(meta); }
  /// Writes the rest of the file and syncs it, but not its folder.
  Status Finish();
  [[nodiscard]] uint64_t entries() const { return entries_; }
  [[nodiscard]] uint64_t bytes() const { return offset_; }
  /// Returns BlockFile::trailer_crc of the file. Valid after Finish.
  [[nodiscard]] uint32_t trailer_crc() const { return trailer_crc_; }

 private:
  BlockFileWriter(std::unique_ptr<File> file, const BlockWriting& writing);
  bool PackBlock();
  bool CompressBlock();
  Status EndBlock();
  void AppendEntry(ByteView key, ByteView value);
  Status Write(ByteView bytes);

  std::unique_ptr<File> file_;
  const BlockWriting writing_;
  TimeSpan times_;
  std::vector<uint64_t> hashes_;  // hashes of the keys, for the filter
  uint64_t offset_ = 0;
  uint64_t entries_ = 0;
  uint32_t blocks_crc_ = 0;  // checksum over the checksums of the blocks
  uint32_t trailer_crc_ = 0;
  Bytes block_;
  Bytes packed_;
  Bytes block_first_;
  Bytes block_part_;
  Bytes last_key_;
  Bytes meta_;
  std::vector<BlockEntry> index_;
};

/// An open block file. Immutable and thread-safe. Index and filter are in memory as long as the
/// object lives.
class BlockFile {
 public:
  static Result<std::shared_ptr<const BlockFile>> Open(FileSystem& files, const std::string& path,
                                                       const BlockReading& reading = {});
  ~BlockFile();

  // Reads of entries fail with Busy if they would read the disk and `context` may not wait
  // (RequestContext::MayWait). If `context` is nullptr, they may wait. If an entry has several
  // pieces, Get and Find return the first one.

  /// Copies the value of the entry to *value. Returns false if there is no such entry.
  Result<bool> Get(ByteView key, Bytes* value, RequestContext* context = nullptr) const;
  /// Like Get, but copies nothing: `value` is a view of `block`.
  Result<bool> Find(ByteView key, std::shared_ptr<const Bytes>* block, ByteView* value,
                    RequestContext* context = nullptr) const;
  /// Visits the first piece of an entry and the other selected pieces, in order. Reads no other
  /// blocks. Returns false if there is no such entry. An error of `visit` ends the call.
  Result<bool> VisitPieces(ByteView key, const PieceChoice& wanted,
                           const std::function<Status(ByteView value)>& visit,
                           RequestContext* context = nullptr) const;
  /// Returns whether the file has a meta block.
  [[nodiscard]] bool has_meta() const { return meta_size_ > 0; }
  /// Returns the size of the meta block; 0 = there is none.
  [[nodiscard]] uint64_t meta_bytes() const { return meta_size_; }
  /// Returns the content of the meta block, which is cached like a block. The file must have a meta
  /// block.
  Result<std::shared_ptr<const Bytes>> ReadMeta(CacheUse use, RequestContext* context) const;
  /// Returns a Corruption that names the meta block.
  [[nodiscard]] Status DamagedMeta(const char* what) const { return Damaged(meta_offset_, what); }
  [[nodiscard]] uint64_t entries() const { return entries_; }
  [[nodiscard]] const TimeSpan& times() const { return times_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  /// Returns the memory of index and filter, in bytes.
  [[nodiscard]] uint64_t memory_bytes() const { return memory_bytes_; }
  /// Returns the checksum of the trailer, which contains checksums of all other parts of the file.
  /// Two files with the same checksum and length have the same content.
  [[nodiscard]] uint32_t trailer_crc() const { return trailer_crc_; }
  /// Returns the first keys of the blocks in order, each key once.
  [[nodiscard]] std::vector<Bytes> FirstKeys() const;
  [[nodiscard]] size_t blocks() const { return index_.size(); }
  /// `continues` returns whether the block has only a further piece of the last entry in the block
  /// before it.
  [[nodiscard]] bool continues(size_t block) const { return !index_[block].first_part.empty(); }
  [[nodiscard]] const Bytes& first_key(size_t block) const { return index_[block].first_key; }
  /// Visits the entries of one block, read from disk, in order. An error of `visit` ends the call.
  /// Corruption names file and offset.
  Status ReadEntries(size_t block,
                     const std::function<Status(ByteView key, ByteView value)>& visit) const;
  /// Reads and verifies every block of the file. The message of Corruption has file and offset.
  static Status Check(const std::shared_ptr<const BlockFile>& file);
  /// Returns whether the file may have content of these times. If not, counts an avoided
  /// access.
  [[nodiscard]] bool MayHoldTime(const TimeSpan& times) const;
  /// Advises the operating system to drop the file from its page cache (region-store.md F6).
  void ForgetCached() const;
  [[nodiscard]] Status Damaged(uint64_t offset, const char* what) const;

 private:
  friend class BlockFileScan;
  BlockFile(std::unique_ptr<File> file, std::string path, const BlockReading& reading)
      : file_(std::move(file)),
        path_(std::move(path)),
        reading_(reading),
        cache_number_(reading.cache != nullptr ? reading.cache->NewFile() : 0) {}
  Status Load();
  Status LoadBloom(uint64_t offset, uint64_t size, uint32_t crc);
  Status LoadIndex(uint64_t offset, uint64_t size, uint32_t crc);
  [[nodiscard]] bool MayHold(ByteView key) const;  // false: the file does not have the key
  Result<std::shared_ptr<const Bytes>> ReadBlock(size_t i, CacheUse use,
                                                 RequestContext* context) const;
  Status ReadFromDisk(size_t i, Bytes* block) const;
  Status Unpack(uint64_t offset, Packing packing, ByteView stored, Bytes* block) const;
  /// Returns the block in which the entry with the key begins. If there is no such entry, returns a
  /// block that is at or before the first entry with a greater key.
  [[nodiscard]] size_t BlockOf(ByteView key) const;
  /// Returns the first block after the last piece of the entry. `block` is either the block of a
  /// further piece of the entry, or the first block after the entry.
  [[nodiscard]] size_t EndOfEntry(size_t block, ByteView key) const;
  /// Returns the first block in [block, end) with a further piece of the entry that may have a
  /// wanted part. Returns `end` if there is none.
  [[nodiscard]] size_t NextWanted(size_t block, size_t end, const PieceChoice& wanted) const;
  /// Like Find. Also sets *at to the place of the block in the index.
  Result<bool> FindAt(ByteView key, size_t* at, std::shared_ptr<const Bytes>* block,
                      ByteView* value, RequestContext* context) const;
  /// Reads the piece that the entry with this key has in the block.
  Status ReadPiece(size_t block, ByteView key, CacheUse use, RequestContext* context,
                   std::shared_ptr<const Bytes>* bytes, ByteView* value) const;

  const std::unique_ptr<File> file_;
  const std::string path_;
  const BlockReading reading_;
  const uint64_t cache_number_;               // the file's number in the cache
  Bytes bloom_;                               // empty: no filter
  uint64_t meta_offset_ = 0, meta_size_ = 0;  // the meta block; size 0: there is none
  uint32_t meta_crc_ = 0;
  TimeSpan times_;
  uint64_t bytes_ = 0;
  uint64_t memory_bytes_ = 0;
  uint32_t trailer_crc_ = 0;
  uint64_t entries_ = 0;
  std::vector<BlockEntry> index_;
};

/// Iterates over the entries in [start, stop) in ascending order. An empty `stop` means no end.
/// Keeps the file open. Use on one thread at a time.
class BlockFileScan {
 public:
  /// Reads fail with Busy if they would read the disk and `context` may not wait. `context` must
  /// outlive the scan. If it is nullptr, reads may wait.
  BlockFileScan(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                CacheUse use = CacheUse::kKeep, RequestContext* context = nullptr);

  /// Moves to the next entry, at its first piece. Returns false at the end.
  Result<bool> Next();
  /// Moves to the next selected piece of the current entry. value() then returns this piece.
  /// Returns false if there is none.
  Result<bool> NextPiece(const PieceChoice& wanted);
  /// Continues at the first entry ≥ start. Reads nothing if that entry is in the current block.
  void Seek(Bytes start);
  /// Return key and value of the current entry. They are valid until the next call of Next.
  [[nodiscard]] const Bytes& key() const { return key_; }
  [[nodiscard]] ByteView value() const { return value_; }
  /// Returns the block of which value() is a view. While the caller holds it, the view is valid.
  [[nodiscard]] const std::shared_ptr<const Bytes>& block() const { return block_; }
  /// Returns a Corruption that names the current block, for a value that cannot be decoded.
  [[nodiscard]] Status Damaged(const char* what) const;

 private:
  const std::shared_ptr<const BlockFile> file_;
  Bytes start_;
  const Bytes stop_;
  const CacheUse use_;
  RequestContext* const context_;
  size_t next_;
  std::shared_ptr<const Bytes> block_;  // null: no block was read yet
  ByteView in_;
  Bytes key_;
  ByteView value_;
};

}  // namespace hg::lsm
