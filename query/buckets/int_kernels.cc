#include "query/buckets/int_kernels.h"

#include <algorithm>

namespace hg::query {
namespace {

// The functions below are compiled once for each type of processor. Their loops work on pieces of a
// constant size, so that the compiler can process several values at once.
#define HG_INLINE inline __attribute__((always_inline))

template <typename Better>
HG_INLINE int64_t BestIntHere(std::span<const int64_t> values, Better better) {
  int64_t out = values[0];
  size_t i = 1;
  if (values.size() >= 2 * kLanes) {
    int64_t lanes[kLanes];
    std::copy(values.begin(), values.begin() + kLanes, lanes);
    for (i = kLanes; i + kLanes <= values.size(); i += kLanes) {
      for (size_t k = 0; k < kLanes; ++k)
        lanes[k] = better(values[i + k], lanes[k]) ? values[i + k] : lanes[k];
    }
    for (int64_t lane : lanes) out = better(lane, out) ? lane : out;
  }
  for (; i < values.size(); ++i) out = better(values[i], out) ? values[i] : out;
  return out;
}

HG_INLINE IntTotal TotalHere(std::span<const int64_t> values) {
  uint64_t sums[kLanes] = {};
  uint64_t bits[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) {
      const auto u = static_cast<uint64_t>(values[i + k]);
      sums[k] += u;
      bits[k] |= u ^ (u << 1);
    }
  }
  IntTotal total;
  for (; i < values.size(); ++i) {
    const auto u = static_cast<uint64_t>(values[i]);
    total.sum += u;
    total.bits |= u ^ (u << 1);
  }
  for (size_t k = 0; k < kLanes; ++k) {
    total.sum += sums[k];
    total.bits |= bits[k];
  }
  return total;
}

#define HG_KERNELS(name, target)                                                           \
  target IntTotal name##Total(std::span<const int64_t> v) { return TotalHere(v); }         \
  target int64_t name##Least(std::span<const int64_t> v) { return BestIntHere(v, kLess); } \
  target int64_t name##Greatest(std::span<const int64_t> v) { return BestIntHere(v, kMore); }

HG_KERNELS(Plain, )
#if defined(__x86_64__)
HG_KERNELS(Avx2, __attribute__((target("avx2"))))
HG_KERNELS(Avx512, __attribute__((target("avx512f,avx512dq,avx512vl"))))
#endif

}  // namespace

std::vector<IntKernels> UsableIntKernels() {
  std::vector<IntKernels> out = {{PlainTotal, PlainLeast, PlainGreatest}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) out.push_back({Avx2Total, Avx2Least, Avx2Greatest});
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    out.push_back({Avx512Total, Avx512Least, Avx512Greatest});
#endif
  return out;
}

}  // namespace hg::query
