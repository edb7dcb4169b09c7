#include "storage/engine/row_block.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <memory>
#include <new>

#include "storage/points/row_layout.h"

namespace hg::engine {
namespace {

// Maximum bytes of a block that is packed. Larger blocks, such as rows with very many points per
// second, are stored unpacked. The limit also bounds the memory that a damaged block can request.
constexpr size_t kBlockBytesMax = 16 << 20;

// Fields of an entry that are not fields of a row.
enum EntryField : uint8_t {
  kShared = static_cast<uint8_t>(points::RowField::kGenerations) + 1,
  kRest,
  kKey
};
constexpr size_t kFields = kKey + 1;

constexpr size_t Column(points::RowField field) { return static_cast<size_t>(field); }
// Columns of mostly random bytes, or of bytes with their own distribution. They are compressed
// separately.
constexpr std::array<size_t, 3> kApart = {Column(points::RowField::kHigh),
                                          Column(points::RowField::kLow),
                                          Column(points::RowField::kPacked)};
constexpr bool IsApart(size_t column) {
  return column == kApart[0] || column == kApart[1] || column == kApart[2];
}

// ---- zstd

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Returns the zstd context of the thread, because a new context for each block would be slow: for a
// block of 32 KB, compression would take 14 % and decompression 40 % more CPU time (8 µs each).
// Throws std::bad_alloc if it cannot be created; a later call tries again.
template <typename Context, Context* (*make)()>
Context* OfThread() {
  thread_local std::unique_ptr<Context, FreeZstd> context;
  if (context == nullptr) context.reset(make());
  if (context == nullptr) throw std::bad_alloc();
  return context.get();
}
ZSTD_CCtx* Compressor() { return OfThread<ZSTD_CCtx, ZSTD_createCCtx>(); }
ZSTD_DCtx* Decompressor() { return OfThread<ZSTD_DCtx, ZSTD_createDCtx>(); }

// Running out of memory must not be reported as damage, and must not make stored blocks larger.
bool IsOutOfMemory(size_t result) {
  return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
}

// Compression levels of zstd. kSingleBytes uses only the entropy coder of zstd. This suits random
// data with few different bytes, in which repetitions are short and cost more than they save.
constexpr int kLevelOfDirectory = 3, kLevelOfNumbers = 1, kSingleBytes = 0;

// Compresses into *compressed. Returns false if the result is not smaller.
bool Compress(ByteView raw, int level, Bytes* compressed) {
  ZSTD_CCtx* const context = Compressor();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  if (level == kSingleBytes) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch,
                           ZSTD_cParam_getBounds(ZSTD_c_minMatch).upperBound);
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog,
                           ZSTD_cParam_getBounds(ZSTD_c_hashLog).lowerBound);
  } else {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  }
  compressed->resize(ZSTD_compressBound(raw.size()));
  const size_t size =
      ZSTD_compress2(context, compressed->data(), compressed->size(), raw.data(), raw.size());
  if (IsOutOfMemory(size)) throw std::bad_alloc();
  if (ZSTD_isError(size) != 0 || size >= raw.size()) return false;
  compressed->resize(size);
  return true;
}

// Appends raw size, stored size and the smallest result of all levels. Equal sizes mean that the
// bytes are stored uncompressed.
void AppendGroup(ByteView raw, std::initializer_list<int> levels, Bytes* out) {
  Bytes compressed;
  Bytes least;
  for (const int level : levels) {
    if (Compress(raw, level, &compressed) && (least.empty() || compressed.size() < least.size())) {
      least.swap(compressed);
    }
  }
  const ByteView stored = least.empty() ? raw : ByteView(least);
  AppendVarint(out, raw.size());
  AppendVarint(out, stored.size());
  out->append(stored);
}

// Reads a group. *raw points into the input or into *room.
bool TakeGroup(points::ByteReader* in, Bytes* room, ByteView* raw) {
  const uint64_t raw_size = in->Varint();
  const uint64_t size = in->Varint();
  const ByteView stored = in->Take(size);
  if (!in->ok() || size > raw_size || raw_size > kBlockBytesMax) return false;
  if (size == raw_size) {
    *raw = stored;
    return true;
  }
  room->resize(raw_size);
  *raw = *room;
  const size_t got =
      ZSTD_decompressDCtx(Decompressor(), room->data(), raw_size, stored.data(), size);
  if (IsOutOfMemory(got)) throw std::bad_alloc();
  return got == raw_size;
}

// ---- conversion of entries to columns and back (row_layout.h)

template <typename Mover>
bool MoveEntryKey(Mover& mover) {
  mover.Varint(points::RowField{kShared});
  const uint64_t rest = mover.Varint(points::RowField{kRest});
  mover.Take(points::RowField{kKey}, rest);
  return mover.ok();
}

template <typename Mover>
bool MoveWholeRow(Mover& mover) {
  return points::MoveRow(mover,
                         [&](bool floats, size_t n) { points::MoveStream(mover, floats, n); });
}

class Packer : public lsm::BlockPacker {
 public:
  bool Pack(ByteView entries, Bytes* packed) const override {
    if (entries.size() > kBlockBytesMax) return false;
    std::array<Bytes, kFields> columns;
    uint64_t count = 0;
    points::ByteReader in(entries);
    points::ByteReader value;
    const auto to_column = [&columns](points::RowField field, ByteView bytes) {
      columns[Column(field)].append(bytes);
    };
    points::FieldMover key([&in](points::RowField) -> points::ByteReader& { return in; },
                           to_column);
    points::FieldMover row([&value](points::RowField) -> points::ByteReader& { return value; },
                           to_column);
    for (; !in.rest().empty(); ++count) {
      if (!MoveEntryKey(key)) return false;
      value = points::ByteReader(in.Take(in.Varint()));
      if (!MoveWholeRow(row) || !value.rest().empty()) return false;
    }
    Bytes directory;
    AppendVarint(&directory, count);
    for (size_t i = 0; i < kFields; ++i) {
      if (!IsApart(i)) AppendVarint(&directory, columns[i].size());
    }
    for (size_t i = 0; i < kFields; ++i) {
      if (!IsApart(i)) directory += columns[i];
    }
    AppendGroup(directory, {kLevelOfDirectory}, packed);
    AppendGroup(columns[kApart[0]], {kSingleBytes, kLevelOfNumbers}, packed);
    for (const size_t i : {1, 2}) AppendGroup(columns[kApart[i]], {kLevelOfNumbers}, packed);
    return true;
  }

  bool Unpack(ByteView packed, Bytes* entries) const override {
    points::ByteReader in(packed);
    std::array<points::ByteReader, kFields> columns;
    Bytes directory_room;
    std::array<Bytes, kApart.size()> rooms;
    ByteView raw;
    if (!TakeGroup(&in, &directory_room, &raw)) return false;
    points::ByteReader directory(raw);
    size_t size = raw.size();
    for (size_t i = 0; i < kApart.size(); ++i) {
      if (!TakeGroup(&in, &rooms[i], &raw)) return false;
      columns[kApart[i]] = points::ByteReader(raw);
      size += raw.size();
    }
    uint64_t count = directory.Varint();
    std::array<uint64_t, kFields> sizes{};
    for (size_t i = 0; i < kFields; ++i) {
      if (!IsApart(i)) sizes[i] = directory.Varint();
    }
    for (size_t i = 0; i < kFields; ++i) {
      if (!IsApart(i)) columns[i] = points::ByteReader(directory.Take(sizes[i]));
    }
    if (!directory.ok() || !directory.rest().empty() || !in.rest().empty()) return false;
    entries->clear();
    entries->reserve(size + kVarint32Max * std::min<uint64_t>(count, size));
    points::FieldMover mover(
        [&columns](points::RowField field) -> points::ByteReader& {
          return columns[Column(field)];
        },
        [entries](points::RowField, ByteView bytes) { entries->append(bytes); });
    for (; count > 0; --count) {
      if (!MoveEntryKey(mover)) return false;
      const size_t start = entries->size();
      if (!MoveWholeRow(mover)) return false;
      char length[kVarint64Max];
      const char* const end = PutVarint(length, entries->size() - start);
      entries->insert(start, length, static_cast<size_t>(end - length));
    }
    for (const points::ByteReader& column : columns) {
      if (!column.rest().empty()) return false;
    }
    return true;
  }
};

}  // namespace

const lsm::BlockPacker& RowBlockPacker() {
  static const Packer packer;
  return packer;
}

}  // namespace hg::engine
