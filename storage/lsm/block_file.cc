#include "storage/lsm/block_file.h"

#include <snappy.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/varint.h"
#include "storage/lsm/block_layout.h"
#include "storage/lsm/bloom.h"
#include "storage/lsm/placed_block.h"

namespace hg::lsm {
namespace {

// Three bytes of Snappy expand to at most 64. A larger ratio is damage and must not allocate
// memory.
constexpr size_t kSnappyRatioMax = 22;

bool CheckCrc(ByteView* in) {
  if (in->size() < 4) return false;
  ByteView tail = in->substr(in->size() - 4);
  in->remove_suffix(4);
  return TakeLittle(&tail, 4) == crc32c::Value(*in);
}

}  // namespace

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
  if (reading_.cache != nullptr) {
    reading_.cache->Drop(cache_number_, PlaceOfFilterPart(filter_parts_.size()));
  }
}

Status BlockFile::Load() {
  ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  if (size < kTrailerBytes) return Damaged(0, "shorter than a trailer");
  Bytes bytes;
  RETURN_IF_ERROR(file_->ReadAt(size - kMagicBytes, kMagicBytes, &bytes));
  if (bytes.size() != kMagicBytes || ByteView(bytes).substr(0, kMagicBytes - 1) != kBlockMagic) {
    return Damaged(size - kMagicBytes, "not the trailer of a block file");
  }
  // A damaged version cannot be distinguished from the version of another program, and both are
  // reported as damage.
  const char version = bytes.back();
  if (version < kBlockVersion || version > kFilterVersion) {
    const std::string what = "a block file of version " +
                             std::to_string(static_cast<uint8_t>(version)) +
                             "; this program reads versions " + std::to_string(kBlockVersion) +
                             " to " + std::to_string(kFilterVersion);
    return Damaged(size - kMagicBytes, what.c_str());
  }
  const size_t trailer_bytes = kTrailerBytes + (version != kBlockVersion ? kTrailerMetaBytes : 0);
  if (size < trailer_bytes) return Damaged(0, "shorter than a trailer");
  const uint64_t trailer_offset = size - trailer_bytes;
  RETURN_IF_ERROR(file_->ReadAt(trailer_offset, trailer_bytes - kMagicBytes, &bytes));
  if (bytes.size() != trailer_bytes - kMagicBytes) {
    return Damaged(trailer_offset, "the trailer is cut short");
  }
  ByteView in = ByteView(bytes).substr(0, bytes.size() - kCrcBytes);
  ByteView crc = ByteView(bytes).substr(in.size());
  trailer_crc_ = TrailerCrc(in, version);
  if (TakeLittle(&crc, kCrcBytes) != trailer_crc_) {
    return Damaged(trailer_offset, "checksum of the trailer differs");
  }
  bytes_ = size;
  if (version != kBlockVersion) {
    meta_offset_ = TakeLittle(&in, 8);
    meta_size_ = TakeLittle(&in, 8);
    meta_crc_ = static_cast<uint32_t>(TakeLittle(&in, kCrcBytes));
  }
  const uint64_t filter_offset = TakeLittle(&in, 8);
  const uint64_t filter_size = TakeLittle(&in, 8);
  times_.min_ms = static_cast<int64_t>(TakeLittle(&in, 8));
  times_.max_ms = static_cast<int64_t>(TakeLittle(&in, 8));
  const auto filter_crc = static_cast<uint32_t>(TakeLittle(&in, 4));
  const uint64_t packing = TakeLittle(&in, 1);
  if (packing > static_cast<uint64_t>(Packing::kZstd)) {
    const std::string what = "blocks packed by the unknown method " + std::to_string(packing);
    return Damaged(trailer_offset, what.c_str());
  }
  // The checksum of the blocks' checksums is not verified. It exists so that the trailer's checksum
  // covers all blocks.
  (void)TakeLittle(&in, kCrcBytes);
  const uint64_t index_offset = TakeLittle(&in, 8);
  const uint64_t index_size = TakeLittle(&in, 8);
  entries_ = TakeLittle(&in, 8);
  const auto index_crc = static_cast<uint32_t>(TakeLittle(&in, 4));
  if (index_offset > trailer_offset || index_size != trailer_offset - index_offset) {
    return Damaged(trailer_offset, "the index lies outside of the file");
  }
  if (filter_offset > index_offset || filter_size != index_offset - filter_offset) {
    return Damaged(trailer_offset, "the filter lies outside of the file");
  }
  if (version != kBlockVersion &&
      (meta_offset_ > filter_offset || meta_size_ != filter_offset - meta_offset_)) {
    return Damaged(trailer_offset, "the meta block lies outside of the file");
  }
  RETURN_IF_ERROR(LoadIndex(index_offset, index_size, index_crc));
  RETURN_IF_ERROR(LoadFilter(version, filter_offset, filter_size, filter_crc));
  CountMemory();
  return {};
}

Status BlockFile::LoadFilter(char version, uint64_t offset, uint64_t size, uint32_t crc) {
  if (size == 0) return {};
  Bytes bytes;
  RETURN_IF_ERROR(file_->ReadAt(offset, size, &bytes));
  if (bytes.size() != size || crc32c::Value(bytes) != crc) {
    return Damaged(offset, "checksum of the filter differs");
  }
  if (version != kFilterVersion) {
    filter_parts_.push_back({index_.size(), offset, size});
    whole_filter_ = std::make_shared<const Bytes>(std::move(bytes));
    return {};
  }
  size_t end = 0;
  for (ByteView in = bytes; !in.empty();) {
    uint64_t blocks, part_size;
    if (!GetVarint64(&in, &blocks) || !GetVarint64(&in, &part_size)) {
      return Damaged(offset, "the table of the filter's parts is cut short");
    }
    if (blocks == 0 || blocks > index_.size() - end) {
      return Damaged(offset, "a part of the filter belongs to no blocks");
    }
    end += blocks;
    const uint64_t begin = index_[end - 1].offset + index_[end - 1].size;
    if (part_size < kCrcBytes || begin > offset || part_size > offset - begin) {
      return Damaged(offset, "a part of the filter lies outside of the file");
    }
    filter_parts_.push_back({end, begin, part_size});
  }
  filter_parts_.shrink_to_fit();
  for (; end < index_.size(); ++end) {
    if (!continues(end)) return Damaged(offset, "the filter lacks the keys of the last blocks");
  }
  return {};
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
    entry.separator = in.substr(0, key_size);
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
  return {};
}

void BlockFile::CountMemory() {
  memory_bytes_ = index_.capacity() * sizeof(BlockEntry) +
                  filter_parts_.capacity() * sizeof(FilterPart) +
                  (whole_filter_ != nullptr ? whole_filter_->capacity() : 0);
  for (const BlockEntry& entry : index_) {
    for (const Bytes* text : {&entry.separator, &entry.first_part}) {
      if (text->capacity() > Bytes().capacity()) memory_bytes_ += text->capacity() + 1;
    }
  }
}

Result<bool> BlockFile::MayHold(ByteView key, size_t block, RequestContext* context) const {
  if (filter_parts_.empty()) return true;
  const auto part =
      std::upper_bound(filter_parts_.begin(), filter_parts_.end(), block,
                       [](size_t at, const FilterPart& filter) { return at < filter.blocks_end; });
  // No entry begins in the blocks after the last part.
  if (part == filter_parts_.end()) return false;
  ASSIGN_OR_RETURN(
      const auto bits,
      ReadFilterPart(static_cast<size_t>(part - filter_parts_.begin()), CacheUse::kKeep, context));
  if (BloomPasses(*bits, BloomHash(key))) return true;
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

std::vector<Bytes> BlockFile::Separators() const {
  std::vector<Bytes> keys;
  for (const BlockEntry& block : index_) {
    if (block.first_part.empty()) keys.push_back(block.separator);
  }
  return keys;
}

template <typename Read>
Result<std::shared_ptr<const Bytes>> BlockFile::ReadCached(size_t place, CacheUse use,
                                                           RequestContext* context,
                                                           const Read& read) const {
  BlockCache* const cache = use == CacheUse::kPast ? nullptr : reading_.cache.get();
  if (cache != nullptr) {
    if (auto found = cache->Find(cache_number_, place)) return found;
  }
  if (context != nullptr) RETURN_IF_ERROR(context->MayWait());
  Bytes bytes;
  RETURN_IF_ERROR(read(&bytes));
  auto shared = std::make_shared<const Bytes>(std::move(bytes));
  if (cache != nullptr && use == CacheUse::kKeep) {
    cache->Insert(cache_number_, place, shared, reading_.in_memory);
  }
  return shared;
}

Result<std::shared_ptr<const Bytes>> BlockFile::ReadBlock(size_t i, CacheUse use,
                                                          RequestContext* context) const {
  INVARIANT(i < index_.size());
  if (!reading_.cache_blocks) use = CacheUse::kPast;
  return ReadCached(i, use, context, [this, i](Bytes* bytes) {
    Bytes block;
    RETURN_IF_ERROR(ReadFromDisk(i, &block));
    *bytes = WithPlaces(block);
    return Status();
  });
}

Result<std::shared_ptr<const Bytes>> BlockFile::ReadMeta(CacheUse use,
                                                         RequestContext* context) const {
  INVARIANT(has_meta());
  return ReadCached(PlaceOfMeta(), use, context, [this](Bytes* bytes) {
    RETURN_IF_ERROR(file_->ReadAt(meta_offset_, meta_size_, bytes));
    if (bytes->size() == meta_size_ && crc32c::Value(*bytes) == meta_crc_) return Status();
    return DamagedMeta("checksum of the meta block differs");
  });
}

Result<std::shared_ptr<const Bytes>> BlockFile::ReadFilterPart(size_t part, CacheUse use,
                                                               RequestContext* context) const {
  if (whole_filter_ != nullptr) return whole_filter_;
  return ReadCached(PlaceOfFilterPart(part), use, context, [this, part](Bytes* bytes) {
    const FilterPart& place = filter_parts_[part];
    RETURN_IF_ERROR(file_->ReadAt(place.offset, place.size, bytes));
    ByteView bits = *bytes;
    if (bytes->size() != place.size || !CheckCrc(&bits)) {
      return Damaged(place.offset, "checksum of a part of the filter differs");
    }
    bytes->resize(bits.size());
    return Status();
  });
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
                       [](const BlockEntry& entry, ByteView k) { return entry.separator < k; });
  const auto block = static_cast<size_t>(it - index_.begin());
  // The index has a separator and the first part of each block. If the block begins with a later
  // part of the key, the entry begins in the block before.
  const bool begins = it != index_.end() && it->separator == key && it->first_part.empty();
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
  if (index_.empty() || key < index_.front().separator) return false;
  *at = BlockOf(key);
  ASSIGN_OR_RETURN(const bool may_hold, MayHold(key, *at, context));
  if (!may_hold) return false;
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
  if (block >= index_.size() || !continues(block) || index_[block].separator != key) return block;
  const auto behind =
      std::upper_bound(index_.begin() + static_cast<ptrdiff_t>(block), index_.end(), key,
                       [](ByteView k, const BlockEntry& entry) { return k < entry.separator; });
  return static_cast<size_t>(behind - index_.begin());
}

// A piece may hold all parts from its first part up to and including the first part of the next
// piece.
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
  if (file->has_meta()) RETURN_IF_ERROR(file->ReadMeta(CacheUse::kPast, nullptr).status());
  for (size_t part = 0; part < file->filter_parts(); ++part)
    RETURN_IF_ERROR(file->CheckFilterPart(part));
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

}  // namespace hg::lsm
