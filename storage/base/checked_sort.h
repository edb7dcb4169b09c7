#pragma once
// A sort that stops when the request that needs it is cancelled or exceeds a limit.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "storage/base/request_context.h"

namespace hg {

/// Sorts as std::stable_sort does, and reports the work to the context of `tally`. Sorting more
/// than 4096 elements needs memory for a second vector. This memory is charged to the tally until
/// the function returns. If the function fails, the order and the values of the elements are
/// unspecified. Use the function for lists of series or points, whose length depends on stored
/// data.
template <typename T, typename Less>
Status CheckedSort(std::vector<T>* all, Less less, MemoryTally* tally) {
  constexpr size_t kPiece = 4096;
  const size_t count = all->size();
  const auto at = [all](size_t i) { return all->begin() + static_cast<std::ptrdiff_t>(i); };
  for (size_t begin = 0; begin < count; begin += kPiece) {
    const size_t end = std::min(begin + kPiece, count);
    RETURN_IF_ERROR(tally->Step((end - begin) * std::bit_width(end - begin)));
    std::stable_sort(at(begin), at(end), less);
  }
  if (count <= kPiece) return {};
  const auto bytes = static_cast<int64_t>(count * sizeof(T));
  RETURN_IF_ERROR(tally->Add(bytes));
  struct Hold {
    ~Hold() { tally->Remove(bytes); }
    MemoryTally* tally;
    int64_t bytes;
  } const hold{tally, bytes};
  std::vector<T> merged;
  merged.reserve(count);
  for (size_t width = kPiece; width < count; width *= 2) {
    merged.clear();
    for (size_t begin = 0; begin < count; begin += 2 * width) {
      size_t left = begin, right = std::min(begin + width, count);
      const size_t middle = right, end = std::min(begin + 2 * width, count);
      while (left < middle || right < end) {
        if (merged.size() % kPiece == 0) RETURN_IF_ERROR(tally->Step(kPiece));
        const bool from_right =
            left == middle || (right < end && less((*all)[right], (*all)[left]));
        merged.push_back(std::move((*all)[from_right ? right++ : left++]));
      }
    }
    all->swap(merged);
  }
  return {};
}

}  // namespace hg
