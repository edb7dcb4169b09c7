#include "storage/lsm/block_file.h"

#include <snappy.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/varint.h"
#include "storage/lsm/bloom.h"

namespace hg::lsm {
namespace {

constexpr ByteView kMagicBegin = "HGBLOCK";
constexpr char kVersion = 5;

// Three bytes of Snappy expand to at most 64. A larger ratio is damage and must not allocate
// memory.
constexpr size_t kSnappyRatioMax = 22;
// Limits the memory that a damaged block can request.
constexpr size_t kZstdBlockMax = 64 << 20;
constexpr int kZstdLevel = 3;
constexpr size_t kMagicBytes = 8;
constexpr size_t kCrcBytes = 4;
// The fields are: filter offset, filter size, first and last time, filter crc, packing, crc of the
// blocks' crcs.
constexpr size_t kTrailerHeadBytes = 8 + 8 + 8 + 8 + 4 + 1 + kCrcBytes;
// The fields after kTrailerHeadBytes are: index offset, index size, entries, index crc, crc of the
// preceding trailer, magic.
constexpr size_t kTrailerBytes = kTrailerHeadBytes + 8 + 8 + 8 + 4 + 4 + kMagicBytes;

// Packed and compressed blocks cost readers time, so they must save at least this share of a block
// (1/8, 1/32).
constexpr size_t kCompressionSaves = 8, kPackerSaves = 32;

void AppendLittle(Bytes* out, uint64_t v, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

uint64_t TakeLittle(ByteView* in, int width) {
  uint64_t v = 0;
  std::memcpy(&v, in->data(), static_cast<size_t>(width));
  in->remove_prefix(static_cast<size_t>(width));
  return v;
}

void AppendCrc(Bytes* out) { AppendLittle(out, crc32c::Value(*out), 4); }

bool CheckCrc(ByteView* in) {
  if (in->size() < 4) return false;
  ByteView tail = in->substr(in->size() - 4);
  in->remove_suffix(4);
  return TakeLittle(&tail, 4) == crc32c::Value(*in);
}

// Decodes one entry from the front of a block. `key` must hold the previous key.
bool TakeEntry(ByteView* in, Bytes* key, ByteView* value) {
  uint64_t shared;
  uint64_t rest;
  if (!GetVarint64(in, &shared) || !GetVarint64(in, &rest) || shared > key->size() ||
      rest > in->size()) {
    return false;
  }
  if (shared + rest == key->size()) {  // the usual case, if keys have the same length
    std::memcpy(key->data() + shared, in->data(), rest);
  } else {
    key->resize(shared);
    key->append(in->substr(0, rest));
  }
  in->remove_prefix(rest);
  uint64_t size;
  if (!GetVarint64(in, &size) || size > in->size()) return false;
  *value = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

// ---- a block in memory
//
// In memory, the entries are followed by an index of places, so that a look-up reads little of the
// block. The index begins with the keys of some entries. For each key it has the offset of the key
// and that of the next entry. It ends with the number of keys and the end of the entries. All
// numbers are u32.

constexpr size_t kPlaceEvery = 1024;  // bytes of entries between two places
// Maximum bytes of entries; larger blocks have no places.
constexpr size_t kPlacedBytesMax = 1U << 30;
constexpr size_t kPlaceBytes = 8, kPlacesEndBytes = 8;

uint32_t LittleAt(ByteView bytes, size_t at) {
  ByteView in = bytes.substr(at, 4);
  return static_cast<uint32_t>(TakeLittle(&in, 4));
}

class PlacedBlock {
 public:
  explicit PlacedBlock(ByteView block) : block_(block) {
    count_ = LittleAt(block, block.size() - 8);
    entries_ = LittleAt(block, block.size() - 4);
    if (count_ == 0) entries_ = block.size() - kPlacesEndBytes;
    INVARIANT(block.size() >= kPlacesEndBytes + count_ * kPlaceBytes);
    index_ = block.size() - kPlacesEndBytes - count_ * kPlaceBytes;
    INVARIANT(entries_ <= index_);
  }

  [[nodiscard]] ByteView entries() const { return block_.substr(0, entries_); }
  /// Moves *in, a suffix of the entries, forward to the entry after the last place whose key is
  /// less than `start`. Sets *key to the key of that place. Does nothing if *in is already there or
  /// beyond.
  void Jump(ByteView start, ByteView* in, Bytes* key) const {
    size_t first = 0;
    for (size_t end = count_; first < end;) {
      const size_t middle = (first + end) / 2;
      KeyOf(middle) < start ? first = middle + 1 : end = middle;
    }
    if (first == 0 || in->empty()) return;
    const size_t behind = LittleAt(block_, index_ + (first - 1) * kPlaceBytes + 4);
    INVARIANT(behind <= entries_);
    if (block_.data() + behind <= in->data()) return;
    *in = entries().substr(behind);
    *key = KeyOf(first - 1);
  }

 private:
  [[nodiscard]] ByteView KeyOf(size_t place) const {
    const size_t begin = LittleAt(block_, index_ + place * kPlaceBytes);
    const size_t end =
        place + 1 < count_ ? LittleAt(block_, index_ + (place + 1) * kPlaceBytes) : index_;
    return block_.substr(begin, end - begin);
  }

  const ByteView block_;
  size_t count_, entries_, index_;
};

// Appends places to the entries. If the entries are damaged, places exist only before the damage.
Bytes WithPlaces(ByteView entries) {
  Bytes keys, index;
  uint32_t count = 0;
  Bytes key;
  ByteView value;
  size_t last = 0;
  for (ByteView in = entries; entries.size() <= kPlacedBytesMax && TakeEntry(&in, &key, &value);) {
    const size_t behind = entries.size() - in.size();
    if (in.empty() || behind - last < kPlaceEvery) continue;
    AppendLittle(&index, entries.size() + keys.size(), 4);
    AppendLittle(&index, behind, 4);
    keys += key;
    last = behind;
    ++count;
  }
  Bytes out;
  out.reserve(entries.size() + keys.size() + index.size() + kPlacesEndBytes);
  out.append(entries).append(keys).append(index);
  AppendLittle(&out, count, 4);
  AppendLittle(&out, entries.size(), 4);
  return out;
}

}  // namespace

BlockFileWriter::BlockFileWriter(std::unique_ptr<File> file, const BlockWriting& writing)
    : file_(std::move(file)), writing_(writing) {}
BlockFileWriter::~BlockFileWriter() = default;

Result<std::unique_ptr<BlockFileWriter>> BlockFileWriter::Create(FileSystem& files,
                                                                 const std::string& path,
                                                                 const BlockWriting& writing) {
  ASSIGN_OR_RETURN(auto file, files.Open(path, OpenMode::kCreate));
  return std::unique_ptr<BlockFileWriter>(new BlockFileWriter(std::move(file), writing));
}

Status BlockFileWriter::Write(ByteView bytes) {
  RETURN_IF_ERROR(file_->WriteAt(offset_, bytes));
  offset_ += bytes.size();
  return {};
}

Status BlockFileWriter::Add(ByteView key, ByteView value) {
  INVARIANT(entries_ == 0 || key > last_key_);
  AppendEntry(key, value);
  ++entries_;
  if (writing_.bloom) hashes_.push_back(BloomHash(key));
  return block_.size() >= writing_.block_bytes ? EndBlock() : Status();
}

Status BlockFileWriter::AddPiece(ByteView first, ByteView value) {
  INVARIANT(entries_ > 0 && !first.empty());
  RETURN_IF_ERROR(EndBlock());
  block_part_ = first;
  AppendEntry(Bytes(last_key_), value);
  return EndBlock();
}

void BlockFileWriter::AppendEntry(ByteView key, ByteView value) {
  size_t shared = 0;
  if (block_.empty()) {
    block_first_ = key;
  } else {
    const size_t limit = std::min(key.size(), last_key_.size());
    while (shared < limit && key[shared] == last_key_[shared]) ++shared;
  }
  AppendVarint(&block_, shared);
  AppendVarint(&block_, key.size() - shared);
  block_.append(key.substr(shared));
  AppendVarint(&block_, value.size());
  block_ += value;
  last_key_ = key;
}

// Returns false if the packer cannot pack the block, if unpacking does not restore it, or if it
// saves too little.
bool BlockFileWriter::PackBlock() {
  packed_.assign(1, static_cast<char>(Packing::kByPacker));
  if (writing_.packer == nullptr || !writing_.packer->Pack(block_, &packed_)) return false;
  Bytes back;
  return packed_.size() <= block_.size() - block_.size() / kPackerSaves &&
         writing_.packer->Unpack(ByteView(packed_).substr(1), &back) && back == block_;
}

// Returns false if the block should not be compressed, or if compression saves too little.
bool BlockFileWriter::CompressBlock() {
  Bytes compressed;
  if (writing_.packing == Packing::kSnappy) {
    snappy::Compress(block_.data(), block_.size(), &compressed);
  } else if (writing_.packing == Packing::kZstd && block_.size() <= kZstdBlockMax) {
    compressed.resize(ZSTD_compressBound(block_.size()));
    const size_t size = ZSTD_compress(compressed.data(), compressed.size(), block_.data(),
                                      block_.size(), kZstdLevel);
    if (ZSTD_isError(size) != 0) return false;
    compressed.resize(size);
  } else {
    return false;
  }
  if (compressed.size() > block_.size() - block_.size() / kCompressionSaves) return false;
  packed_.assign(1, static_cast<char>(writing_.packing));
  packed_ += compressed;
  return true;
}

Status BlockFileWriter::EndBlock() {
  if (block_.empty()) return {};
  if (!PackBlock() && !CompressBlock()) {
    packed_.assign(1, static_cast<char>(Packing::kPlain));
    packed_ += block_;
  }
  AppendCrc(&packed_);
  blocks_crc_ = crc32c::Extend(blocks_crc_, ByteView(packed_).substr(packed_.size() - kCrcBytes));
  INVARIANT(index_.empty() || index_.back().offset + index_.back().size == offset_);
  INVARIANT(index_.empty() || index_.back().first_key <= block_first_);
  index_.push_back({block_first_, std::exchange(block_part_, {}), offset_, packed_.size()});
  RETURN_IF_ERROR(Write(packed_));
  block_.clear();
  return {};
}

Status BlockFileWriter::Finish() {
  RETURN_IF_ERROR(EndBlock());
  INVARIANT(block_.empty() && index_.empty() == (entries_ == 0));
  Bytes index;
  for (const BlockEntry& entry : index_) {
    AppendVarint(&index, entry.first_key.size());
    index += entry.first_key;
    AppendVarint(&index, entry.first_part.size());
    index += entry.first_part;
    AppendVarint(&index, entry.offset);
    AppendVarint(&index, entry.size);
  }
  const Bytes bloom = writing_.bloom ? MakeBloom(hashes_) : Bytes();
  const Packing packing = writing_.packer != nullptr ? Packing::kByPacker : writing_.packing;
  Bytes trailer;
  AppendLittle(&trailer, offset_, 8);
  AppendLittle(&trailer, bloom.size(), 8);
  AppendLittle(&trailer, static_cast<uint64_t>(times_.min_ms), 8);
  AppendLittle(&trailer, static_cast<uint64_t>(times_.max_ms), 8);
  AppendLittle(&trailer, crc32c::Value(bloom), 4);
  AppendLittle(&trailer, static_cast<uint64_t>(packing), 1);
  AppendLittle(&trailer, blocks_crc_, kCrcBytes);
  RETURN_IF_ERROR(Write(bloom));
  AppendLittle(&trailer, offset_, 8);
  AppendLittle(&trailer, index.size(), 8);
  AppendLittle(&trailer, entries_, 8);
  AppendLittle(&trailer, crc32c::Value(index), 4);
  trailer_crc_ = crc32c::Value(trailer);
  AppendCrc(&trailer);
  trailer += kMagicBegin;
  trailer.push_back(kVersion);
  RETURN_IF_ERROR(Write(index));
  RETURN_IF_ERROR(Write(trailer));
  return file_->Sync();
}

Status BlockFile::Damaged(uint64_t offset, const char* what) const {
  return Status::Corruption(path_ + " at " + std::to_string(offset) + ": " + what);
}

Result<std::shared_ptr<const BlockFile>> BlockFile::Open(FileSystem& files, const std::string& path,
                                                         const BlockReading& reading) {
  ASSIGN_OR_RETURN(auto file, files.Open(path, OpenMode::kRead));
  std::shared_ptr<BlockFile> result(new BlockFile(std::move(file), path, reading));
  RETURN_IF_ERROR(result->Load());
  return std::shared_ptr<const BlockFile>(std::move(result));
}

BlockFile::~BlockFile() {
  if (reading_.cache != nullptr) reading_.cache->Drop(cache_number_, index_.size());
}

Status BlockFile::Load() {
  ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  if (size < kTrailerBytes) return Damaged(0, "shorter than a trailer");
  Bytes bytes;
  RETURN_IF_ERROR(file_->ReadAt(size - kMagicBytes, kMagicBytes, &bytes));
  if (bytes.size() != kMagicBytes || ByteView(bytes).substr(0, kMagicBytes - 1) != kMagicBegin) {
    return Damaged(size - kMagicBytes, "not the trailer of a block file");
  }
  // The version is not covered by a checksum, so damage cannot be distinguished from another
  // program's file.
  if (bytes.back() != kVersion) {
    const std::string what = "a block file of version " +
                             std::to_string(static_cast<uint8_t>(bytes.back())) +
                             "; this program reads version " + std::to_string(kVersion);
    return Damaged(size - kMagicBytes, what.c_str());
  }
  const uint64_t trailer_offset = size - kTrailerBytes;
  RETURN_IF_ERROR(file_->ReadAt(trailer_offset, kTrailerBytes - kMagicBytes, &bytes));
  ByteView in = bytes;
  if (in.size() != kTrailerBytes - kMagicBytes || !CheckCrc(&in)) {
    return Damaged(trailer_offset, "checksum of the trailer differs");
  }
  bytes_ = size;
  trailer_crc_ = crc32c::Value(in);
  const uint64_t bloom_offset = TakeLittle(&in, 8);
  const uint64_t bloom_size = TakeLittle(&in, 8);
  times_.min_ms = static_cast<int64_t>(TakeLittle(&in, 8));
  times_.max_ms = static_cast<int64_t>(TakeLittle(&in, 8));
  const auto bloom_crc = static_cast<uint32_t>(TakeLittle(&in, 4));
  const uint64_t packing = TakeLittle(&in, 1);
  if (packing > static_cast<uint64_t>(Packing::kZstd)) {
    const std::string what = "blocks packed by the unknown method " + std::to_string(packing);
    return Damaged(trailer_offset, what.c_str());
  }
  // This checksum is not verified. It exists so that the trailer's checksum covers all blocks.
  (void)TakeLittle(&in, kCrcBytes);
  const uint64_t index_offset = TakeLittle(&in, 8);
  const uint64_t index_size = TakeLittle(&in, 8);
  entries_ = TakeLittle(&in, 8);
  const auto index_crc = static_cast<uint32_t>(TakeLittle(&in, 4));
  if (index_offset > trailer_offset || index_size != trailer_offset - index_offset) {
    return Damaged(trailer_offset, "the index lies outside of the file");
  }
  if (bloom_offset > index_offset || bloom_size != index_offset - bloom_offset) {
    return Damaged(trailer_offset, "the filter lies outside of the file");
  }
  RETURN_IF_ERROR(LoadBloom(bloom_offset, bloom_size, bloom_crc));
  return LoadIndex(index_offset, index_size, index_crc);
}

Status BlockFile::LoadBloom(uint64_t offset, uint64_t size, uint32_t crc) {
  if (size == 0) return {};
  RETURN_IF_ERROR(file_->ReadAt(offset, size, &bloom_));
  if (bloom_.size() == size && crc32c::Value(bloom_) == crc) return {};
  return Damaged(offset, "checksum of the filter differs");
}

Status BlockFile::LoadIndex(uint64_t offset, uint64_t size, uint32_t crc) {
  Bytes bytes;
  RETURN_IF_ERROR(file_->ReadAt(offset, size, &bytes));
  if (bytes.size() != size || crc32c::Value(bytes) != crc) {
    return Damaged(offset, "checksum of the index differs");
  }
  for (ByteView in = bytes; !in.empty();) {
    uint64_t key_size;
    BlockEntry entry;
    if (!GetVarint64(&in, &key_size) || key_size > in.size()) {
      return Damaged(offset, "the index is cut short");
    }
    entry.first_key = in.substr(0, key_size);
    in.remove_prefix(key_size);
    uint64_t part_size;
    if (!GetVarint64(&in, &part_size) || part_size > in.size()) {
      return Damaged(offset, "the index is cut short");
    }
    entry.first_part = in.substr(0, part_size);
    in.remove_prefix(part_size);
    if (!entry.first_part.empty() && index_.empty()) {
      return Damaged(offset, "the first block continues another one");
    }
    if (!GetVarint64(&in, &entry.offset) || !GetVarint64(&in, &entry.size) || entry.size > offset ||
        entry.offset > offset - entry.size) {
      return Damaged(offset, "the index names a block outside of the file");
    }
    index_.push_back(std::move(entry));
  }
  index_.shrink_to_fit();
  memory_bytes_ = bloom_.capacity() + index_.capacity() * sizeof(BlockEntry);
  for (const BlockEntry& entry : index_) {
    for (const Bytes* text : {&entry.first_key, &entry.first_part}) {
      if (text->capacity() > Bytes().capacity()) memory_bytes_ += text->capacity() + 1;
    }
  }
  return {};
}

bool BlockFile::MayHold(ByteView key) const {
  if (bloom_.empty() || BloomPasses(bloom_, BloomHash(key))) return true;
  if (reading_.counters != nullptr) {
    reading_.counters->skipped_by_bloom.fetch_add(1, std::memory_order_relaxed);
  }
  return false;
}

bool BlockFile::MayHoldTime(const TimeSpan& times) const {
  if (!times_.known() || times_.Meets(times)) return true;
  if (reading_.counters != nullptr) {
    reading_.counters->skipped_by_time.fetch_add(1, std::memory_order_relaxed);
  }
  return false;
}

void BlockFile::ForgetCached() const {
  file_->ForgetCached();
  if (reading_.counters == nullptr || index_.empty()) return;
  const BlockEntry& last = index_.back();
  reading_.counters->forgotten_bytes.fetch_add(last.offset + last.size, std::memory_order_relaxed);
}

std::vector<Bytes> BlockFile::FirstKeys() const {
  std::vector<Bytes> keys;
  for (const BlockEntry& block : index_) {
    if (block.first_part.empty()) keys.push_back(block.first_key);
  }
  return keys;
}

Result<std::shared_ptr<const Bytes>> BlockFile::ReadBlock(size_t i, CacheUse use,
                                                          RequestContext* context) const {
  INVARIANT(i < index_.size());
  BlockCache* const cache = use == CacheUse::kPast ? nullptr : reading_.cache.get();
  if (cache != nullptr) {
    if (auto found = cache->Find(cache_number_, i)) return found;
  }
  if (context != nullptr) RETURN_IF_ERROR(context->MayWait());
  Bytes block;
  RETURN_IF_ERROR(ReadFromDisk(i, &block));
  auto shared = std::make_shared<const Bytes>(WithPlaces(block));
  if (cache != nullptr && use == CacheUse::kKeep) {
    cache->Insert(cache_number_, i, shared, reading_.in_memory);
  }
  return shared;
}

Status BlockFile::ReadFromDisk(size_t i, Bytes* block) const {
  INVARIANT(i < index_.size());
  const BlockEntry& entry = index_[i];
  if (reading_.counters != nullptr) {
    reading_.counters->blocks.fetch_add(1, std::memory_order_relaxed);
  }
  RETURN_IF_ERROR(file_->ReadAt(entry.offset, entry.size, block));
  ByteView in = *block;
  if (block->size() != entry.size || !CheckCrc(&in)) {
    return Damaged(entry.offset, "checksum of a block differs");
  }
  if (in.empty()) return Damaged(entry.offset, "an empty block");
  const auto packing = static_cast<Packing>(in.front());
  in.remove_prefix(1);
  if (packing != Packing::kPlain) {
    Bytes unpacked;
    RETURN_IF_ERROR(Unpack(entry.offset, packing, in, &unpacked));
    block->swap(unpacked);
    return {};
  }
  block->erase(0, 1);
  block->resize(in.size());
  return {};
}

Status BlockFile::Unpack(uint64_t offset, Packing packing, ByteView stored, Bytes* block) const {
  size_t size = 0;
  switch (packing) {
    case Packing::kSnappy:
      if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &size) ||
          size / kSnappyRatioMax > stored.size()) {
        return Damaged(offset, "a compressed block of an impossible length");
      }
      if (snappy::Uncompress(stored.data(), stored.size(), block)) return {};
      return Damaged(offset, "a block cannot be decompressed");
    case Packing::kZstd: {
      // The check also covers the error values for frames without a length and for invalid frames.
      const unsigned long long frame = ZSTD_getFrameContentSize(stored.data(), stored.size());
      if (frame > kZstdBlockMax) {
        return Damaged(offset, "a compressed block of an impossible length");
      }
      block->resize(frame);
      size = ZSTD_decompress(block->data(), frame, stored.data(), stored.size());
      if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (size == frame) return {};
      return Damaged(offset, "a block cannot be decompressed");
    }
    case Packing::kByPacker:
      if (reading_.packer == nullptr) break;
      if (reading_.packer->Unpack(stored, block)) return {};
      return Damaged(offset, "a packed block cannot be unpacked");
    default:
      break;
  }
  return Damaged(offset, "a block packed in an unknown way");
}

size_t BlockFile::BlockOf(ByteView key) const {
  const auto it =
      std::lower_bound(index_.begin(), index_.end(), key,
                       [](const BlockEntry& entry, ByteView k) { return entry.first_key < k; });
  const auto block = static_cast<size_t>(it - index_.begin());
  // The index names the first key and part of each block. If the block begins with a later part of
  // the key, the entry begins in the block before.
  const bool begins = it != index_.end() && it->first_key == key && it->first_part.empty();
  return begins || block == 0 ? block : block - 1;
}

Result<bool> BlockFile::Get(ByteView key, Bytes* value, RequestContext* context) const {
  std::shared_ptr<const Bytes> block;
  ByteView found;
  ASSIGN_OR_RETURN(const bool has, Find(key, &block, &found, context));
  if (has) value->assign(found);
  return has;
}

Result<bool> BlockFile::Find(ByteView key, std::shared_ptr<const Bytes>* block, ByteView* value,
                             RequestContext* context) const {
  size_t at;
  return FindAt(key, &at, block, value, context);
}

Result<bool> BlockFile::FindAt(ByteView key, size_t* at, std::shared_ptr<const Bytes>* block,
                               ByteView* value, RequestContext* context) const {
  if (index_.empty() || key < index_.front().first_key || !MayHold(key)) return false;
  *at = BlockOf(key);
  ASSIGN_OR_RETURN(*block, ReadBlock(*at, CacheUse::kKeep, context));
  Bytes found;
  const PlacedBlock placed(**block);
  ByteView in = placed.entries();
  placed.Jump(key, &in, &found);
  while (!in.empty()) {
    if (!TakeEntry(&in, &found, value)) {
      return Damaged(index_[*at].offset, "an entry is cut short");
    }
    if (found < key) continue;
    return found == key;
  }
  return false;
}

Status BlockFile::ReadPiece(size_t block, ByteView key, CacheUse use, RequestContext* context,
                            std::shared_ptr<const Bytes>* bytes, ByteView* value) const {
  ASSIGN_OR_RETURN(*bytes, ReadBlock(block, use, context));
  ByteView in = PlacedBlock(**bytes).entries();
  Bytes found;
  if (TakeEntry(&in, &found, value) && in.empty() && found == key) return {};
  return Damaged(index_[block].offset, "a piece of a row cannot be read");
}

Result<bool> BlockFile::VisitPieces(ByteView key, const PieceChoice& wanted,
                                    const std::function<Status(ByteView value)>& visit,
                                    RequestContext* context) const {
  std::shared_ptr<const Bytes> bytes;
  ByteView value;
  size_t at;
  ASSIGN_OR_RETURN(const bool found, FindAt(key, &at, &bytes, &value, context));
  if (!found) return false;
  RETURN_IF_ERROR(visit(value));
  const size_t end = EndOfEntry(at + 1, key);
  for (size_t block = NextWanted(at + 1, end, wanted); block < end;
       block = NextWanted(block + 1, end, wanted)) {
    RETURN_IF_ERROR(ReadPiece(block, key, CacheUse::kKeep, context, &bytes, &value));
    RETURN_IF_ERROR(visit(value));
  }
  return true;
}

size_t BlockFile::EndOfEntry(size_t block, ByteView key) const {
  if (block >= index_.size() || !continues(block) || index_[block].first_key != key) return block;
  const auto behind =
      std::upper_bound(index_.begin() + static_cast<ptrdiff_t>(block), index_.end(), key,
                       [](ByteView k, const BlockEntry& entry) { return k < entry.first_key; });
  return static_cast<size_t>(behind - index_.begin());
}

// A piece may hold parts up to the first part of the next piece, both included.
size_t BlockFile::NextWanted(size_t block, size_t end, const PieceChoice& wanted) const {
  if (block >= end) return end;
  const std::optional<Bytes> part = wanted(index_[block].first_part);
  if (!part) return end;
  const auto begin = index_.begin() + static_cast<ptrdiff_t>(block);
  const auto at = std::lower_bound(
      begin, index_.begin() + static_cast<ptrdiff_t>(end), *part,
      [](const BlockEntry& entry, const Bytes& p) { return entry.first_part < p; });
  return at == begin ? block : static_cast<size_t>(at - index_.begin()) - 1;
}

Status BlockFile::ReadEntries(
    size_t block, const std::function<Status(ByteView key, ByteView value)>& visit) const {
  Bytes content;
  RETURN_IF_ERROR(ReadFromDisk(block, &content));
  Bytes key;
  ByteView value;
  for (ByteView in = content; !in.empty();) {
    if (!TakeEntry(&in, &key, &value)) {
      return Damaged(index_[block].offset, "an entry is cut short");
    }
    RETURN_IF_ERROR(visit(key, value));
  }
  return {};
}

Status BlockFile::Check(const std::shared_ptr<const BlockFile>& file) {
  uint64_t entries = 0;
  for (size_t block = 0; block < file->blocks(); ++block) {
    RETURN_IF_ERROR(file->ReadEntries(block, [&](ByteView, ByteView) {
      entries += file->continues(block) ? 0 : 1;
      return Status();
    }));
  }
  if (entries != file->entries_) {
    return file->Damaged(0, "number of entries differs from the trailer");
  }
  return {};
}

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
        block_.reset();  // it is no longer the block before next_
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
  block_.reset();  // it is no longer the block before next_
  return false;
}

Result<bool> BlockFileScan::NextPiece(const PieceChoice& wanted) {
  if (!in_.empty()) return false;  // another entry follows in its block
  const size_t end = file_->EndOfEntry(next_, key_);
  if (next_ == end) return false;
  const size_t block = file_->NextWanted(next_, end, wanted);
  next_ = std::min(block + 1, end);
  block_.reset();  // it is no longer the block before next_
  if (block == end) return false;
  RETURN_IF_ERROR(file_->ReadPiece(block, key_, use_, context_, &block_, &value_));
  return true;
}

void BlockFileScan::Seek(Bytes start) {
  start_ = std::move(start);
  const auto& index = file_->index_;
  // The target is usually in this block or the next one.
  size_t block = index.size();
  if (block_ != nullptr && !file_->continues(next_ - 1) && index[next_ - 1].first_key <= start_) {
    for (size_t i = next_; block == index.size() && i <= next_ + 1; ++i) {
      if (i >= index.size() || start_ < index[i].first_key) block = i - 1;
    }
  }
  if (block == index.size()) block = file_->BlockOf(start_);
  if (block + 1 != next_ || block_ == nullptr) {
    next_ = block;
    in_ = {};
    block_.reset();  // it is no longer the block before next_
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
