#include "storage/points/split_stream.h"

#include <algorithm>
#include <array>
#include <vector>

namespace hg::points {
namespace {

// The high part gets about this many bits, chosen so that the low part takes most of the noise.
// More bits would enlarge the compressor's table.
constexpr int kHighBits = 3;

// Returns the number of bits of a signed number.
int SizeOf(uint64_t v) {
  return BitWidth(v ^ static_cast<uint64_t>(static_cast<int64_t>(v) >> 63));
}

int64_t Median(std::vector<uint64_t> numbers) {
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end(), [](uint64_t a, uint64_t b) {
    return static_cast<int64_t>(a) < static_cast<int64_t>(b);
  });
  return static_cast<int64_t>(*middle);
}

// Numbers relative to their middle.
struct Centred {
  std::vector<uint64_t> numbers;
  uint64_t middle = 0;
  int size = 0;  // the median of the bit lengths of the numbers

  void TakeAwayMiddle() {
    // If about as many numbers lie on both sides of zero, zero is used as the middle. Zero is the
    // same in all rows, so the high parts of the rows are similar.
    size_t above = 0;
    size_t below = 0;
    for (const uint64_t number : numbers) {
      above += static_cast<int64_t>(number) > 0;
      below += static_cast<int64_t>(number) < 0;
    }
    const bool balanced =
        4 * std::min(above, below) >= above + below || 2 * (above + below) < numbers.size();
    if (!balanced) {
      middle = static_cast<uint64_t>(Median(numbers));
      for (uint64_t& number : numbers) number -= middle;
    }
    std::array<size_t, 65> sizes{};
    for (const uint64_t number : numbers) ++sizes[static_cast<size_t>(SizeOf(number))];
    size_t seen = sizes[0];
    while (seen * 2 < numbers.size()) seen += sizes[static_cast<size_t>(++size)];
  }
};

}  // namespace

void AppendSplit(std::span<const uint64_t> numbers, bool steps, Bytes* out) {
  Centred of_steps;
  for (size_t i = 1; i < numbers.size(); ++i) {
    of_steps.numbers.push_back(numbers[i] - numbers[i - 1]);
  }
  of_steps.TakeAwayMiddle();
  Centred of_values;
  if (!steps) {
    of_values.numbers.assign(numbers.begin(), numbers.end());
    of_values.TakeAwayMiddle();
    steps = of_steps.size < of_values.size || of_values.size == 0;
  }
  const Centred& centred = steps ? of_steps : of_values;
  const int low_bits = std::clamp(centred.size - kHighBits, 0, kSplitLowBitsMax);
  out->push_back(static_cast<char>((steps ? kSplitSteps : 0) | low_bits));
  AppendVarint(out, ZigZag(static_cast<int64_t>(centred.middle)));
  if (steps) AppendVarint(out, ZigZag(static_cast<int64_t>(numbers[0])));
  Bytes escaped;
  for (const uint64_t number : centred.numbers) {
    const uint64_t high = ZigZag(static_cast<int64_t>(number) >> low_bits);
    out->push_back(static_cast<char>(std::min<uint64_t>(high, kSplitEscape)));
    if (high >= kSplitEscape) AppendVarint(&escaped, high - kSplitEscape);
  }
  PackBits(centred.numbers, low_bits, out);
  *out += escaped;
}

}  // namespace hg::points
