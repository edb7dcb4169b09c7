#include <snappy.h>
#include <zstd.h>

#include <algorithm>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/varint.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/block_layout.h"
#include "storage/lsm/bloom.h"

namespace hg::lsm {
namespace {

constexpr int kZstdLevel = 3;
// A part of the filter ends with the block in which it reaches this number of keys. The part then
// has at least 5 KiB.
constexpr size_t kKeysPerFilterPart = 4096;
// Packed and compressed blocks cost readers time, so they must save at least this share of a block
// (1/8, 1/32).
constexpr size_t kCompressionSaves = 8, kPackerSaves = 32;

}  // namespace

ByteView Separator(ByteView before, ByteView key) {
  size_t shared = 0;
  while (shared < before.size() && before[shared] == key[shared]) ++shared;
  return key.substr(0, shared + 1);
}

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
    separator_ = entries_ == 0 || !block_part_.empty() ? key : Separator(last_key_, key);
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
  AppendLittle(&packed_, crc32c::Value(packed_), kCrcBytes);
  blocks_crc_ = crc32c::Extend(blocks_crc_, ByteView(packed_).substr(packed_.size() - kCrcBytes));
  INVARIANT(index_.empty() || index_.back().offset + index_.back().size <= offset_);
  INVARIANT(index_.empty() || index_.back().separator <= separator_);
  index_.push_back({separator_, std::exchange(block_part_, {}), offset_, packed_.size()});
  RETURN_IF_ERROR(Write(packed_));
  block_.clear();
  return hashes_.size() >= kKeysPerFilterPart ? EndFilterPart() : Status();
}

// Writes the part of the filter for all blocks since the last part, directly after these blocks.
Status BlockFileWriter::EndFilterPart() {
  Bytes part = MakeBloom(hashes_);
  hashes_.clear();
  AppendLittle(&part, crc32c::Value(part), kCrcBytes);
  blocks_crc_ = crc32c::Extend(blocks_crc_, ByteView(part).substr(part.size() - kCrcBytes));
  filter_parts_.push_back({index_.size(), offset_, part.size()});
  return Write(part);
}

Bytes BlockFileWriter::EncodeFilterParts() const {
  Bytes table;
  size_t blocks = 0;
  for (const FilterPart& part : filter_parts_) {
    AppendVarint(&table, part.blocks_end - blocks);
    AppendVarint(&table, part.size);
    blocks = part.blocks_end;
  }
  return table;
}

Bytes BlockFileWriter::EncodeIndex() const {
  Bytes index;
  for (const BlockEntry& entry : index_) {
    AppendVarint(&index, entry.separator.size());
    index += entry.separator;
    AppendVarint(&index, entry.first_part.size());
    index += entry.first_part;
    AppendVarint(&index, entry.offset);
    AppendVarint(&index, entry.size);
  }
  return index;
}

Status BlockFileWriter::Finish() {
  RETURN_IF_ERROR(EndBlock());
  INVARIANT(block_.empty() && index_.empty() == (entries_ == 0));
  if (!hashes_.empty()) RETURN_IF_ERROR(EndFilterPart());
  const Bytes index = EncodeIndex();
  const Bytes filter_parts = EncodeFilterParts();
  const char version = writing_.bloom   ? kFilterVersion
                       : !meta_.empty() ? kMetaVersion
                                        : kBlockVersion;
  const Packing packing = writing_.packer != nullptr ? Packing::kByPacker : writing_.packing;
  Bytes trailer;
  if (version != kBlockVersion) {
    AppendLittle(&trailer, offset_, 8);
    AppendLittle(&trailer, meta_.size(), 8);
    AppendLittle(&trailer, crc32c::Value(meta_), kCrcBytes);
    RETURN_IF_ERROR(Write(meta_));
  }
  AppendLittle(&trailer, offset_, 8);
  AppendLittle(&trailer, filter_parts.size(), 8);
  AppendLittle(&trailer, static_cast<uint64_t>(times_.min_ms), 8);
  AppendLittle(&trailer, static_cast<uint64_t>(times_.max_ms), 8);
  AppendLittle(&trailer, crc32c::Value(filter_parts), 4);
  AppendLittle(&trailer, static_cast<uint64_t>(packing), 1);
  AppendLittle(&trailer, blocks_crc_, kCrcBytes);
  RETURN_IF_ERROR(Write(filter_parts));
  AppendLittle(&trailer, offset_, 8);
  AppendLittle(&trailer, index.size(), 8);
  AppendLittle(&trailer, entries_, 8);
  AppendLittle(&trailer, crc32c::Value(index), 4);
  trailer_crc_ = TrailerCrc(trailer, version);
  AppendLittle(&trailer, trailer_crc_, kCrcBytes);
  trailer += kBlockMagic;
  trailer.push_back(version);
  RETURN_IF_ERROR(Write(index));
  RETURN_IF_ERROR(Write(trailer));
  return file_->Sync();
}

}  // namespace hg::lsm
