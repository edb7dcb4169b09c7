#include "storage/points/row_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "storage/model/exact_integers.h"
#include "storage/points/ample_reader.h"
#include "storage/points/row_layout.h"

namespace hg::points {
namespace {

std::optional<RowStatistics> OfDoubles(const std::vector<uint64_t>& bits) {
  RowStatistics found;
  found.all_double = true;
  found.least = found.most = std::bit_cast<double>(bits[0]);
  for (const uint64_t b : bits) {
    const auto v = std::bit_cast<double>(b);
    if (!std::isfinite(v) || (v == 0 && std::signbit(v))) return {};
    found.least = std::min(found.least, v);
    found.most = std::max(found.most, v);
    found.sum += v;  // added in order of time, so that the sum is rounded as in a query
  }
  if (!std::isfinite(found.sum)) return {};
  return found;
}

std::optional<RowStatistics> OfInts(const std::vector<uint64_t>& bits) {
  auto least = static_cast<int64_t>(bits[0]);
  int64_t most = least;
  for (const uint64_t b : bits) {
    least = std::min(least, static_cast<int64_t>(b));
    most = std::max(most, static_cast<int64_t>(b));
  }
  RowStatistics found;
  found.least = static_cast<double>(least);
  found.most = static_cast<double>(most);
  found.count = static_cast<uint32_t>(bits.size());
  if (found.magnitude() > kExactIntegerMax) return {};
  int64_t sum = 0;
  for (const uint64_t b : bits) sum += static_cast<int64_t>(b);
  found.sum = static_cast<double>(sum);
  return found;
}

// ---- doubles: stored as scaled decimal integers, or as IEEE bits

double PowerOf10(int exponent) {
  constexpr double kPowers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
  return kPowers[exponent];
}

// Returns v × 10^exponent if that is an integer from which v can be restored exactly.
std::optional<int64_t> Scaled(double v, int exponent) {
  const double scaled = v * PowerOf10(exponent);
  if (!(std::abs(scaled) < kExactIntegerMax)) return {};
  const int64_t number = std::llround(scaled);
  if (static_cast<double>(number) / PowerOf10(exponent) != v) return {};
  return number;
}

void AppendDouble(Bytes* out, double v) { AppendBig(out, std::bit_cast<uint64_t>(v), 8); }

template <typename Reader>
bool TakeDouble(Reader* in, double* v) {
  const ByteView bytes = in->Take(8);
  if (!in->ok()) return false;
  *v = std::bit_cast<double>(ReadBig64(bytes.data()));
  return std::isfinite(*v);
}

void AppendDoubles(const RowStatistics& statistics, Bytes* out) {
  for (int exponent = 0; exponent <= kStatisticsExponentMax; ++exponent) {
    const auto least = Scaled(statistics.least, exponent);
    const auto most = Scaled(statistics.most, exponent);
    const double sum = statistics.sum * PowerOf10(exponent);
    if (!least || !most || !(std::abs(sum) < kExactIntegerMax)) continue;
    out->push_back(static_cast<char>(exponent));
    AppendVarint(out, ZigZag(*least));
    AppendVarint(out, static_cast<uint64_t>(*most - *least));
    // Each addition has rounded the sum, so it may differ from the scaled number. The difference is
    // stored in units of the last place.
    const int64_t number = std::llround(sum);
    const double rounded = static_cast<double>(number) / PowerOf10(exponent);
    AppendVarint(out, ZigZag(number));
    AppendVarint(out, ZigZag(static_cast<int64_t>(std::bit_cast<uint64_t>(statistics.sum) -
                                                  std::bit_cast<uint64_t>(rounded))));
    return;
  }
  out->push_back(static_cast<char>(kStatisticsAsTheyAre));
  for (const double v : {statistics.least, statistics.most, statistics.sum}) AppendDouble(out, v);
}

template <typename Reader>
bool TakeDoubles(Reader* in, RowStatistics* statistics) {
  const uint8_t exponent = in->U8();
  if (exponent == kStatisticsAsTheyAre) {
    return TakeDouble(in, &statistics->least) && TakeDouble(in, &statistics->most) &&
           TakeDouble(in, &statistics->sum);
  }
  if (exponent > kStatisticsExponentMax) return false;
  const int64_t least = in->Zz();
  const uint64_t range = in->Varint();
  const int64_t sum = in->Zz();
  const int64_t off = in->Zz();
  const double unit = PowerOf10(exponent);
  statistics->least = static_cast<double>(least) / unit;
  statistics->most =
      static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(least) + range)) / unit;
  statistics->sum = std::bit_cast<double>(std::bit_cast<uint64_t>(static_cast<double>(sum) / unit) +
                                          static_cast<uint64_t>(off));
  return in->ok() && std::isfinite(statistics->sum);
}

}  // namespace

std::optional<RowStatistics> StatisticsOf(const RowColumns& columns) {
  if (columns.size() < kStatisticsPointsMin || !columns.is_double.empty()) return {};
  std::optional<RowStatistics> found =
      columns.all_double ? OfDoubles(columns.value) : OfInts(columns.value);
  if (!found) return {};
  found->count = static_cast<uint32_t>(columns.size());
  found->first_offset_ms = columns.offset_ms.front();
  found->last_offset_ms = columns.offset_ms.back();
  return found;
}

bool StatisticsHold(ByteView encoded_row) {
  const auto kept = ReadRowStatistics(encoded_row);
  if (!kept.ok()) return false;
  if (!*kept) return true;
  RowColumns columns;
  return AppendColumns(encoded_row, &columns).ok() && StatisticsOf(columns) == *kept;
}

uint32_t GridStepMs(ByteView encoded_row) {
  ByteReader in(encoded_row);
  if ((in.U8() & kRowMore) != 0) in.U8();
  const uint64_t count = in.Varint();
  const uint8_t times = in.U8();
  if (count < 2 || (times != kSecondsGrid && times != kMillisGrid)) return 0;
  in.Varint();  // the first time
  const uint64_t step = in.Varint();
  constexpr uint64_t kHourMs = uint64_t{kRowSpan} * 1000;
  if (!in.ok() || step >= kHourMs) return 0;
  return static_cast<uint32_t>(times == kSecondsGrid ? step * 1000 : step);
}

void AppendStatistics(const RowStatistics& statistics, Bytes* out) {
  AppendVarint(out, statistics.last_offset_ms);
  if (statistics.all_double) return AppendDoubles(statistics, out);
  const auto least = static_cast<int64_t>(statistics.least);
  AppendVarint(out, ZigZag(least));
  AppendVarint(out, static_cast<uint64_t>(static_cast<int64_t>(statistics.most) - least));
  AppendVarint(out, ZigZag(static_cast<int64_t>(statistics.sum)));
}

template <typename Reader>
bool TakeStatistics(Reader* in, bool doubles, RowStatistics* statistics) {
  const uint64_t last = in->Varint();
  if (!in->ok() || last >= uint64_t{kRowSpan} * 1000) return false;
  statistics->last_offset_ms = static_cast<uint32_t>(last);
  statistics->all_double = doubles;
  if (doubles) return TakeDoubles(in, statistics);
  const int64_t least = in->Zz();
  const uint64_t range = in->Varint();
  const int64_t sum = in->Zz();
  if (!in->ok()) return false;
  statistics->least = static_cast<double>(least);
  statistics->most =
      static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(least) + range));
  statistics->sum = static_cast<double>(sum);
  return true;
}

template bool TakeStatistics(ByteReader*, bool, RowStatistics*);
template bool TakeStatistics(AmpleReader*, bool, RowStatistics*);

}  // namespace hg::points
