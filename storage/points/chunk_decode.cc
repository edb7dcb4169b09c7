#include "storage/points/chunk_codec.h"
#include "storage/points/chunk_layout.h"

namespace hg::points {
namespace {

using namespace chunk_layout;

bool TakePlainChunk(const char* chunk, size_t at, RowColumns* columns) {
  ChunkEntries entries;
  DecodeChunk(chunk, &entries);
  for (size_t i = 0; i < kChunkEntries; ++i) {
    if (!IsPoint(entries.ops[i])) return false;
    const codec::Qualifier q{entries.ops[i]};
    columns->Set(at + i, q.offset_ms(), {entries.bits[i], q.flags()});
  }
  return true;
}

HG_INLINE bool DecodeHere(const char* chunk, const char* end, size_t* at, RowColumns* columns) {
  ChunkShape shape;
  for (; chunk < end; *at += kChunkEntries) {
    if ((*chunk & kClassMask) == kPlainChunk) {
      if (!TakePlainChunk(chunk, *at, columns)) return false;
      chunk += kChunkBytesMax;
      continue;
    }
    if (!shape.IsOf(chunk)) shape = ChunkShape(chunk);
    uint64_t* const values = columns->value.data() + *at;
    LoadTimes(shape, chunk, columns->offset_ms.data() + *at);
    LoadNumbers(shape, chunk, values);
    if (shape.how() == kDecimalChunk) DecimalsToDoubles(shape.exponent(), values);
    if (shape.how() == kWordChunk && shape.flags() == kFloat32) WidenSingles(values);
    columns->MarkKind(*at, kChunkEntries, shape.how() != kIntChunk);
    chunk += shape.bytes;
  }
  return true;
}

bool DecodePlainly(const char* chunk, const char* end, size_t* at, RowColumns* columns) {
  return DecodeHere(chunk, end, at, columns);
}

#if defined(__x86_64__)
// Wider registers than AVX2 make decimals slower, because division does not get faster.
__attribute__((target("avx2"))) bool DecodeByAvx2(const char* chunk, const char* end, size_t* at,
                                                  RowColumns* columns) {
  return DecodeHere(chunk, end, at, columns);
}
#endif

}  // namespace

std::vector<ChunksDecoder> UsableChunksDecoders() {
  std::vector<ChunksDecoder> out = {DecodePlainly};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) out.push_back(DecodeByAvx2);
#endif
  return out;
}

bool DecodeChunks(const char* chunk, const char* end, size_t* at, RowColumns* columns) {
  static const ChunksDecoder fastest = UsableChunksDecoders().back();
  return fastest(chunk, end, at, columns);
}

}  // namespace hg::points
