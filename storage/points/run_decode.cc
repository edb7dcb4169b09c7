#include "storage/points/run_codec.h"
#include "storage/points/run_layout.h"

namespace hg::points {
namespace {

using namespace run_layout;

bool TakePlainRun(const char* run, size_t at, RowColumns* columns) {
  RunEntries entries;
  DecodeRun(run, &entries);
  for (size_t i = 0; i < kRunEntries; ++i) {
    if (!IsPoint(entries.ops[i])) return false;
    const codec::Qualifier q{entries.ops[i]};
    columns->Set(at + i, q.offset_ms(), {entries.bits[i], q.flags()});
  }
  return true;
}

HG_INLINE bool DecodeHere(const char* run, const char* end, size_t* at, RowColumns* columns) {
  RunShape shape;
  for (; run < end; *at += kRunEntries) {
    if ((*run & kClassMask) == kPlain) {
      if (!TakePlainRun(run, *at, columns)) return false;
      run += kRunBytesMax;
      continue;
    }
    if (!shape.IsOf(run)) shape = RunShape(run);
    uint64_t* const values = columns->value.data() + *at;
    LoadTimes(shape, run, columns->offset_ms.data() + *at);
    LoadNumbers(shape, run, values);
    if (shape.how() == kDecimals) DecimalsToDoubles(shape.exponent(), values);
    if (shape.how() == kWords && shape.flags() == kFloat32) WidenSingles(values);
    columns->MarkKind(*at, kRunEntries, shape.how() != kInts);
    run += shape.bytes;
  }
  return true;
}

bool DecodePlainly(const char* run, const char* end, size_t* at, RowColumns* columns) {
  return DecodeHere(run, end, at, columns);
}

#if defined(__x86_64__)
// Wider registers than AVX2 make decimals slower, because division does not get faster.
__attribute__((target("avx2"))) bool DecodeByAvx2(const char* run, const char* end, size_t* at,
                                                  RowColumns* columns) {
  return DecodeHere(run, end, at, columns);
}
#endif

}  // namespace

std::vector<RunsDecoder> UsableRunsDecoders() {
  std::vector<RunsDecoder> out = {DecodePlainly};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) out.push_back(DecodeByAvx2);
#endif
  return out;
}

bool DecodeRuns(const char* run, const char* end, size_t* at, RowColumns* columns) {
  static const RunsDecoder fastest = UsableRunsDecoders().back();
  return fastest(run, end, at, columns);
}

}  // namespace hg::points
