#pragma once
// An immutable file of rows sorted by key. Its blocks have checksums. The file has an index of its
// blocks and, optionally, a filter of its keys (FORMAT.md "Block file"). The filter has parts of a
// few kilobytes, which are read like blocks, so a filter does not stay in memory. If the file has a
// BlockPacker, the packer encodes all blocks that it supports. Each other block is compressed if
// compression saves enough space. Otherwise the block is stored unchanged. A file may also have a
// meta block with bytes about its rows. The code in storage/lsm does not interpret these bytes.

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
  /// Appends the packed entries of a block to `packed`. Returns false if the packer cannot pack
  /// these entries; the content of `packed` is then undefined.
  virtual bool Pack(ByteView entries, Bytes* packed) const = 0;
  /// Sets *entries to the unpacked entries. Returns false if `packed` is not a valid packed block.
  virtual bool Unpack(ByteView packed, Bytes* entries) const = 0;
};

/// How a block is stored. The first byte of a stored block has this value.
enum class Packing : uint8_t { kPlain = 0, kSnappy = 1, kByPacker = 2, kZstd = 3 };

/// Options for writing a block file.
struct BlockWriting {
  const BlockPacker* packer = nullptr;  // tried before `packing`; must outlive the writer
  // How to store those blocks that the packer does not pack: kPlain, kSnappy or kZstd.
  Packing packing = Packing::kSnappy;
  size_t block_bytes = 32 << 10;  // a block ends when its uncompressed size reaches this
  // Whether the file gets a Bloom filter. With the filter, a Get of an absent key rarely reads a
  // block.
  bool bloom = false;
};

/// A range of times, which includes both ends. If min_ms > max_ms, the range is empty or unknown.
struct TimeSpan {
  int64_t min_ms = std::numeric_limits<int64_t>::max();
  int64_t max_ms = std::numeric_limits<int64_t>::min();

  [[nodiscard]] bool known() const { return min_ms <= max_ms; }
  /// Returns whether this range and `other` have a time in common.
  [[nodiscard]] bool Meets(const TimeSpan& other) const {
    return min_ms <= other.max_ms && other.min_ms <= max_ms;
  }
  void Add(int64_t time_ms) {
    min_ms = std::min(min_ms, time_ms);
    max_ms = std::max(max_ms, time_ms);
  }
};

/// Counters for the readers of all files of a store. Thread-safe.
struct ReadCounters {
  std::atomic<uint64_t> blocks{0};            // number of blocks read from disk
  std::atomic<uint64_t> skipped_by_bloom{0};  // number of reads that the filter of a file avoided
  std::atomic<uint64_t> skipped_by_time{0};  // number of reads that the time span of a file avoided
  std::atomic<uint64_t> forgotten_bytes{0};  // bytes of files that were dropped from the page cache
};

/// Options for reading a block file.
struct BlockReading {
  const BlockPacker* packer = nullptr;     // decodes packed blocks; must outlive the file
  std::shared_ptr<BlockCache> cache = {};  // null = nothing is cached
  bool cache_blocks = true;  // false = only the meta block and parts of filters are cached
  bool in_memory = false;    // whether blocks belong to the class IN_MEMORY
  std::shared_ptr<ReadCounters> counters = {};  // null = nothing is counted
};

/// How a reader uses the block cache.
enum class CacheUse : uint8_t {
  kKeep,  // looks up blocks, and inserts the blocks that it reads
  kFind,  // looks up blocks, but does not insert the blocks that it reads
  kPast,  // does not use the cache: for readers that read once or verify the disk
};

/// A function that selects pieces of an entry. A piece has some consecutive parts of the entry's
/// value. The function returns the first wanted part that is equal to `part` or comes after `part`.
/// It returns nullopt if there is no such part.
using PieceChoice = std::function<std::optional<Bytes>(ByteView part)>;

/// Returns the shortest prefix of `key` that is greater than `before`. `key` must be greater than
/// `before`.
ByteView Separator(ByteView before, ByteView key);

/// One block in the index of a file.
struct BlockEntry {
  // A key that separates the block from the block before: it is greater than all keys of that
  // block, and at most the first key of this block. The separator of the first block is its first
  // key. If the block continues an entry, the separator is the key of the entry.
  Bytes separator;
  // If the block continues the entry of an earlier block: a name that is at most the name of the
  // part with which the block begins, and not less than the names of all earlier parts. An empty
  // name means that the block begins with the first part of an entry.
  Bytes first_part;
  uint64_t offset;
  uint64_t size;
};

/// The place of one part of a file's filter. The part is for the keys of the entries that begin in
/// certain blocks: the first of these blocks is the `blocks_end` of the part before (0 for the
/// first part), and the last one is the block before its own `blocks_end`.
struct FilterPart {
  size_t blocks_end;
  uint64_t offset;
  uint64_t size;
};

/// Writes a block file. Use a writer on one thread at a time. Add entries in ascending order of
/// keys, and then call Finish. The file is unusable if Finish was not called or a call has failed.
class BlockFileWriter {
 public:
  /// Creates the file. If `writing` has a packer, readers of the file need the same packer
  /// (BlockReading::packer).
  static Result<std::unique_ptr<BlockFileWriter>> Create(FileSystem& files, const std::string& path,
                                                         const BlockWriting& writing = {});
  ~BlockFileWriter();

  Status Add(ByteView key, ByteView value);
  /// Adds another piece to the value of the last entry. The piece gets its own block, so that
  /// readers can select pieces (BlockFile::VisitPieces). `first` is the name of the first part of
  /// the value in this piece and must not be empty. The caller defines the order of part names, and
  /// must add the pieces of an entry in this order.
  Status AddPiece(ByteView first, ByteView value);
  /// Extends the file's time span to include `time_ms`. If AddTime is never called, the time span
  /// of the file is unknown.
  void AddTime(int64_t time_ms) { times_.Add(time_ms); }
  /// Sets the content of the meta block. If `meta` is empty, the file has no meta block.
  void SetMeta(Bytes meta) { meta_ = std::move(meta); }
  /// Writes the rest of the file and syncs it, but not its folder.
  Status Finish();
  [[nodiscard]] uint64_t entries() const { return entries_; }
  [[nodiscard]] uint64_t bytes() const { return offset_; }
  /// Returns the value of BlockFile::trailer_crc for this file. Call this function after Finish.
  [[nodiscard]] uint32_t trailer_crc() const { return trailer_crc_; }

 private:
  BlockFileWriter(std::unique_ptr<File> file, const BlockWriting& writing);
  bool PackBlock();
  bool CompressBlock();
  Status EndBlock();
  Status EndFilterPart();
  [[nodiscard]] Bytes EncodeIndex() const;
  [[nodiscard]] Bytes EncodeFilterParts() const;
  void AppendEntry(ByteView key, ByteView value);
  Status Write(ByteView bytes);

  std::unique_ptr<File> file_;
  const BlockWriting writing_;
  TimeSpan times_;
  std::vector<uint64_t> hashes_;  // hashes of the keys since the last part of the filter
  std::vector<FilterPart> filter_parts_;
  uint64_t offset_ = 0;
  uint64_t entries_ = 0;
  uint32_t blocks_crc_ = 0;  // checksum over the checksums of the blocks and filter parts
  uint32_t trailer_crc_ = 0;
  Bytes block_;
  Bytes packed_;
  Bytes separator_;
  Bytes block_part_;
  Bytes last_key_;
  Bytes meta_;
  std::vector<BlockEntry> index_;
};

/// An open block file. Immutable and thread-safe. Open loads the index and the places of the parts
/// of the filter into memory, and returns Corruption if they or the trailer are damaged. If the
/// file was written by an older release, its filter has one part, which stays in memory.
class BlockFile {
 public:
  static Result<std::shared_ptr<const BlockFile>> Open(FileSystem& files, const std::string& path,
                                                       const BlockReading& reading = {});
  ~BlockFile();

  // Get, Find, VisitPieces and ReadMeta return Corruption if a block or a part of the filter is
  // damaged, and Busy if they would read the disk and `context` may not wait
  // (RequestContext::MayWait). If `context` is nullptr, they may wait. If an entry has several
  // pieces, Get and Find return the first piece.

  /// Copies the value of the entry to *value. Returns false if there is no entry with this key.
  Result<bool> Get(ByteView key, Bytes* value, RequestContext* context = nullptr) const;
  /// Finds the value of the entry without copying it: `value` is a view of `block`, which the
  /// caller must keep. Returns false if there is no entry with this key.
  Result<bool> Find(ByteView key, std::shared_ptr<const Bytes>* block, ByteView* value,
                    RequestContext* context = nullptr) const;
  /// Visits the first piece of an entry and the selected other pieces, in order. Does not read the
  /// blocks of other pieces. Returns false if there is no entry with this key. An error of `visit`
  /// ends the call.
  Result<bool> VisitPieces(ByteView key, const PieceChoice& wanted,
                           const std::function<Status(ByteView value)>& visit,
                           RequestContext* context = nullptr) const;
  /// Returns whether the file has a meta block.
  [[nodiscard]] bool has_meta() const { return meta_size_ > 0; }
  /// Returns the size of the meta block in bytes. 0 means that the file has no meta block.
  [[nodiscard]] uint64_t meta_bytes() const { return meta_size_; }
  /// Returns the content of the meta block, which is cached like a block. The file must have a meta
  /// block.
  Result<std::shared_ptr<const Bytes>> ReadMeta(CacheUse use, RequestContext* context) const;
  /// Returns a Corruption status that names the meta block.
  [[nodiscard]] Status DamagedMeta(const char* what) const { return Damaged(meta_offset_, what); }
  [[nodiscard]] uint64_t entries() const { return entries_; }
  [[nodiscard]] const TimeSpan& times() const { return times_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  /// Returns the memory that the index and the places of the filter's parts take, in bytes. Of a
  /// file of an older release, the filter is included.
  [[nodiscard]] uint64_t memory_bytes() const { return memory_bytes_; }
  /// Returns the checksum of the trailer. The trailer contains checksums of all other parts of the
  /// file, so two files with the same trailer checksum and length have the same content.
  [[nodiscard]] uint32_t trailer_crc() const { return trailer_crc_; }
  /// Returns the separators of all blocks in order, without those of blocks that continue an entry.
  [[nodiscard]] std::vector<Bytes> Separators() const;
  [[nodiscard]] size_t blocks() const { return index_.size(); }
  /// Returns whether the block contains only another piece of the last entry in the block before
  /// it.
  [[nodiscard]] bool continues(size_t block) const { return !index_[block].first_part.empty(); }
  /// Returns the separator of the block (BlockEntry). All keys of the file are less than the
  /// separator of the block after them, so searches can use it as the first key of the block.
  [[nodiscard]] const Bytes& separator(size_t block) const { return index_[block].separator; }
  /// Reads one block from disk and visits its entries in order. An error of `visit` ends the call.
  /// The message of Corruption names the file and the offset.
  Status ReadEntries(size_t block,
                     const std::function<Status(ByteView key, ByteView value)>& visit) const;
  /// Returns the number of parts of the filter. 0 means that the file has no filter.
  [[nodiscard]] size_t filter_parts() const { return filter_parts_.size(); }
  /// Reads and verifies one part of the filter. The message of Corruption names the file and the
  /// offset.
  [[nodiscard]] Status CheckFilterPart(size_t part) const {
    return ReadFilterPart(part, CacheUse::kPast, nullptr).status();
  }
  /// Reads and verifies all blocks and all parts of the filter. The message of Corruption names the
  /// file and the offset.
  static Status Check(const std::shared_ptr<const BlockFile>& file);
  /// Returns whether the file may have content of these times. If the result is false, counts an
  /// avoided access.
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
  /// Loads the places of the filter's parts, or the whole filter of an older release. Call
  /// LoadIndex before, because the places follow from those of the blocks.
  Status LoadFilter(char version, uint64_t offset, uint64_t size, uint32_t crc);
  Status LoadIndex(uint64_t offset, uint64_t size, uint32_t crc);
  void CountMemory();
  /// Returns false if the file has no entry with this key. `block` is BlockOf(key).
  Result<bool> MayHold(ByteView key, size_t block, RequestContext* context) const;
  Result<std::shared_ptr<const Bytes>> ReadFilterPart(size_t part, CacheUse use,
                                                      RequestContext* context) const;
  /// Returns what the cache has at `place`: a block, the meta block or a part of the filter. If the
  /// cache has nothing there, calls `read`, which has the form Status(Bytes*), and inserts the
  /// result.
  template <typename Read>
  Result<std::shared_ptr<const Bytes>> ReadCached(size_t place, CacheUse use,
                                                  RequestContext* context, const Read& read) const;
  Result<std::shared_ptr<const Bytes>> ReadBlock(size_t i, CacheUse use,
                                                 RequestContext* context) const;
  Status ReadFromDisk(size_t i, Bytes* block) const;
  Status Unpack(uint64_t offset, Packing packing, ByteView stored, Bytes* block) const;
  /// Returns the block in which the entry with the key begins. If there is no such entry, returns a
  /// block that is not after the first entry with a greater key.
  [[nodiscard]] size_t BlockOf(ByteView key) const;
  /// Returns the first block after the last piece of the entry. `block` must be the block of a
  /// piece that is not the first one, or the first block after the entry.
  [[nodiscard]] size_t EndOfEntry(size_t block, ByteView key) const;
  /// The blocks [block, end) have pieces of one entry. Returns the first of these blocks whose
  /// piece may have a part that `wanted` selects. Returns `end` if there is no such block.
  [[nodiscard]] size_t NextWanted(size_t block, size_t end, const PieceChoice& wanted) const;
  /// Finds an entry as Find does, and also sets *at to the index of the block.
  Result<bool> FindAt(ByteView key, size_t* at, std::shared_ptr<const Bytes>* block,
                      ByteView* value, RequestContext* context) const;
  /// Reads the piece in the given block of the entry with this key.
  Status ReadPiece(size_t block, ByteView key, CacheUse use, RequestContext* context,
                   std::shared_ptr<const Bytes>* bytes, ByteView* value) const;

  // The places in the cache: the blocks are first, then the meta block, and then the filter's
  // parts.
  [[nodiscard]] size_t PlaceOfMeta() const { return index_.size(); }
  [[nodiscard]] size_t PlaceOfFilterPart(size_t part) const { return index_.size() + 1 + part; }

  const std::unique_ptr<File> file_;
  const std::string path_;
  const BlockReading reading_;
  const uint64_t cache_number_;                // number of the file in the block cache
  std::vector<FilterPart> filter_parts_;       // empty = the file has no filter
  std::shared_ptr<const Bytes> whole_filter_;  // the only part in a file of an older release
  uint64_t meta_offset_ = 0, meta_size_ = 0;   // position of the meta block; size 0 = no meta block
  uint32_t meta_crc_ = 0;
  TimeSpan times_;
  uint64_t bytes_ = 0;
  uint64_t memory_bytes_ = 0;
  uint32_t trailer_crc_ = 0;
  uint64_t entries_ = 0;
  std::vector<BlockEntry> index_;
};

/// Iterates over the entries in [start, stop) in ascending order. An empty `stop` means that the
/// range has no end. The scan keeps the file open. Use a scan on one thread at a time.
class BlockFileScan {
 public:
  /// Reads return Busy if they would read the disk and `context` may not wait. `context` must
  /// outlive the scan. If `context` is nullptr, reads may wait.
  BlockFileScan(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                CacheUse use = CacheUse::kKeep, RequestContext* context = nullptr);

  /// Moves to the next entry. If its value is stored in several pieces (see PieceChoice), value()
  /// then returns the first piece. Returns false if there are no more entries.
  Result<bool> Next();
  /// Moves to the next selected piece of the current entry. value() then returns this piece.
  /// Returns false if there are no more selected pieces.
  Result<bool> NextPiece(const PieceChoice& wanted);
  /// Makes the next call of Next return the first entry with key ≥ start. Seek may go backwards,
  /// and reads nothing.
  void Seek(Bytes start);
  /// key() and value() return the key and the value of the current entry. They are valid until the
  /// next call of Next, NextPiece or Seek.
  [[nodiscard]] const Bytes& key() const { return key_; }
  [[nodiscard]] ByteView value() const { return value_; }
  /// Returns the block of which value() is a view. The view is valid while the caller holds the
  /// block.
  [[nodiscard]] const std::shared_ptr<const Bytes>& block() const { return block_; }
  /// Returns a Corruption status that names the current block. Use it for a value that cannot be
  /// decoded.
  [[nodiscard]] Status Damaged(const char* what) const;

 private:
  const std::shared_ptr<const BlockFile> file_;
  Bytes start_;
  const Bytes stop_;
  const CacheUse use_;
  RequestContext* const context_;
  size_t next_;                         // index of the block after block_, or of the block to read
  std::shared_ptr<const Bytes> block_;  // the current block; null if it is not read
  ByteView in_;                         // the entries of block_ after the current entry
  Bytes key_;
  ByteView value_;
};

}  // namespace hg::lsm
