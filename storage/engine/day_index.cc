#include "storage/engine/day_index.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/invariant.h"
#include "storage/base/varint.h"
#include "storage/lsm/bloom.h"

namespace hg::engine {
namespace {

constexpr size_t kFingerprintBytes = 8;
constexpr uint32_t kSeriesTogether = 4096;
constexpr uint64_t kStepsPerSeries = 4;  // the cost of reading and hashing a TSUID

struct Day {
  uint32_t day = 0;
  ByteView numbers;
};

/// Splits a day index into its days. Returns nullopt if the index is not valid.
std::optional<std::vector<Day>> DaysOf(ByteView index, uint64_t* fingerprint) {
  if (index.size() < kFingerprintBytes) return {};
  *fingerprint = ReadBig64(index.data());
  index.remove_prefix(kFingerprintBytes);
  uint64_t count;
  if (!GetVarint64(&index, &count) || count > index.size()) return {};
  std::vector<Day> days(count);
  std::vector<uint64_t> sizes(count);
  uint64_t day = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t step;
    if (!GetVarint64(&index, &step) || !GetVarint64(&index, &sizes[i])) return {};
    if ((step == 0 && i > 0) || step > UINT32_MAX) return {};
    day += step;
    if (day > UINT32_MAX / kIndexedDayS) return {};
    days[i].day = static_cast<uint32_t>(day);
  }
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] > index.size()) return {};
    days[i].numbers = index.substr(0, sizes[i]);
    index.remove_prefix(sizes[i]);
  }
  if (!index.empty()) return {};
  return days;
}

bool AddNumbers(ByteView numbers, Roaring* series) {
  if (roaring_bitmap_portable_deserialize_size(numbers.data(), numbers.size()) != numbers.size()) {
    return false;
  }
  roaring_bitmap_t* const read =
      roaring_bitmap_portable_deserialize_safe(numbers.data(), numbers.size());
  if (read == nullptr) return false;
  const Roaring owner(read);
  *series |= owner;
  return true;
}

// Returns the hash of a series for the fingerprint. The hash includes the number, because after a
// repair the same numbers may stand for the same series in another order.
uint64_t HashOf(uint32_t number, ByteView tsuid) {
  return lsm::BloomHash(tsuid) * (2 * uint64_t{number} + 1);
}

// Returns the sum of the hashes of the series. Returns nullopt if a number is not assigned, or was
// forgotten.
Result<std::optional<uint64_t>> FingerprintOf(const Roaring& series, const Registry& registry,
                                              RequestContext* watch) {
  uint64_t sum = 0;
  uint32_t since_step = 0;
  const auto tsuids = registry.tsuids();
  const auto forgotten = registry.Forgotten();
  for (const uint32_t number : series) {
    const ByteView tsuid = tsuids->FindTsuid(number);
    if (tsuid.empty() || forgotten->Has(number)) return std::optional<uint64_t>();
    sum += HashOf(number, tsuid);
    if (++since_step < kSeriesTogether) continue;
    since_step = 0;
    if (watch != nullptr) RETURN_IF_ERROR(watch->Step(kSeriesTogether * kStepsPerSeries));
  }
  return std::optional(sum);
}

}  // namespace

void DayIndexWriter::Numbers::Add(uint32_t number) {
  const size_t at = number >> 16;
  if (at >= blocks_.size()) blocks_.resize(at + 1);
  Block& block = blocks_[at];
  const auto low = static_cast<uint16_t>(number);
  const auto add = [&](uint16_t n) { (*block.many)[n >> 6] |= uint64_t{1} << (n & 63); };
  if (block.many != nullptr) return add(low);
  block.few.push_back(low);
  if (block.few.size() < kFewMax) return;
  block.many = std::make_unique<Bitmap>();
  for (const uint16_t n : std::exchange(block.few, {})) add(n);
}

Roaring DayIndexWriter::Numbers::Compressed() const {
  Roaring numbers;
  std::vector<uint32_t> some;
  for (size_t at = 0; at < blocks_.size(); ++at) {
    const auto begin = static_cast<uint32_t>(at << 16);
    some.clear();
    for (const uint16_t n : blocks_[at].few) some.push_back(begin + n);
    std::sort(some.begin(), some.end());
    for (uint32_t i = 0; blocks_[at].many != nullptr && i < blocks_[at].many->size(); ++i) {
      for (uint64_t left = (*blocks_[at].many)[i]; left != 0; left &= left - 1) {
        some.push_back(begin + 64 * i + static_cast<uint32_t>(std::countr_zero(left)));
      }
    }
    numbers.addMany(some.size(), some.data());
  }
  numbers.runOptimize();
  return numbers;
}

void DayIndexWriter::Add(uint32_t number, ByteView tsuid, uint32_t base) {
  const uint32_t day = base / kIndexedDayS;
  if (numbers_ != nullptr && number == number_) return AddAgain(base);
  number_ = number;
  if (!all_.Has(number)) {
    fingerprint_ += HashOf(number, tsuid);
    all_.Grow(number + 1);
    all_.Add(number);
  }
  if (numbers_ == nullptr || day != day_) numbers_ = &days_[day];
  day_ = day;
  numbers_->Add(number);
}

void DayIndexWriter::AddAgain(uint32_t base) {
  const uint32_t day = base / kIndexedDayS;
  INVARIANT(numbers_ != nullptr);
  if (day == day_) return;
  day_ = day;
  numbers_ = &days_[day];
  numbers_->Add(number_);
}

Bytes DayIndexWriter::Encode() {
  Bytes index, numbers;
  AppendBig(&index, fingerprint_, kFingerprintBytes);
  AppendVarint(&index, days_.size());
  uint32_t before = 0;
  for (const auto& [day, of_day] : days_) {
    const Roaring compressed = of_day.Compressed();
    const size_t at = numbers.size(), size = compressed.getSizeInBytes();
    numbers.resize(at + size);
    compressed.write(numbers.data() + at);
    AppendVarint(&index, day - before);
    AppendVarint(&index, size);
    before = day;
  }
  return index.append(numbers);
}

bool AddSeriesOfDays(ByteView index, uint32_t first_day, uint32_t last_day, Roaring* series) {
  uint64_t fingerprint;
  const auto days = DaysOf(index, &fingerprint);
  if (!days) return false;
  for (const Day& day : *days) {
    if (day.day < first_day || day.day > last_day) continue;
    if (!AddNumbers(day.numbers, series)) return false;
  }
  return true;
}

bool IsDayIndex(ByteView index) {
  Roaring all;
  return AddSeriesOfDays(index, 0, UINT32_MAX, &all);
}

Result<bool> HasNumbersOf(ByteView index, const Registry& registry, RequestContext* watch) {
  uint64_t expected;
  const auto days = DaysOf(index, &expected);
  if (!days) return false;
  Roaring all;
  for (const Day& day : *days) {
    if (!AddNumbers(day.numbers, &all)) return false;
  }
  ASSIGN_OR_RETURN(const auto fingerprint, FingerprintOf(all, registry, watch));
  return fingerprint == expected;
}

}  // namespace hg::engine
