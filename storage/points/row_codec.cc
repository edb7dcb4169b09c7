#include "storage/points/row_codec.h"

#include <algorithm>
#include <functional>

#include "storage/base/invariant.h"
#include "storage/points/ample_reader.h"
#include "storage/points/number_stream.h"
#include "storage/points/row_layout.h"
#include "storage/points/row_statistics.h"

namespace hg::points {
namespace {

constexpr uint64_t kCheapCountMax =
    1 << 16;  // number of points that is allowed in any row, even if the row has few bytes

constexpr uint64_t kOffsetMsMax = uint64_t{kRowSpan} * 1000 - 1;

Status Damaged(const char* what) { return Status::Corruption(std::string("encoded row: ") + what); }

// ---- encoding

// Appends one bit per point: whether `has` is true for its qualifier.
template <typename Has>
void AppendMarks(std::span<const PartPoint> points, Has has, Bytes* out) {
  const size_t start = out->size();
  out->resize(start + PackedBytes(points.size(), 1));
  for (size_t i = 0; i < points.size(); ++i) {
    if (has(points[i].qualifier)) (*out)[start + i / 8] |= static_cast<char>(1 << (i % 8));
  }
}

void EncodeTimes(std::span<const PartPoint> points, Bytes* out) {
  size_t millis = 0;
  for (const PartPoint& point : points) millis += point.qualifier.is_millis();
  const bool seconds = millis == 0;
  const uint64_t unit = seconds ? 1000 : 1;
  std::vector<uint64_t> steps;
  steps.reserve(points.size());
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    steps.push_back((points[i].offset_ms() - points[i - 1].offset_ms()) / unit);
    least = std::min(least, steps.back());
    most = std::max(most, steps.back());
  }
  const bool both = !seconds && millis < points.size();
  const bool grid = !both && (steps.empty() || least == most);
  out->push_back(
      static_cast<char>(both ? kBoth : (seconds ? kSecondsGrid : kMillisGrid) + (grid ? 0 : 1)));
  AppendVarint(out, points[0].offset_ms() / unit);
  if (!steps.empty()) AppendVarint(out, least);
  if (!grid) {
    for (uint64_t& step : steps) step -= least;
    out->push_back(static_cast<char>(BitWidth(most - least)));
    PackBits(steps, BitWidth(most - least), out);
  }
  if (both)
    AppendMarks(
        points, [](codec::Qualifier q) { return q.is_millis(); }, out);
}

void EncodeSequences(std::span<const PartPoint> points, Bytes* out) {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  std::vector<uint64_t> above;
  above.reserve(points.size());
  for (const PartPoint& point : points) {
    least = std::min(least, point.sequence);
    most = std::max(most, point.sequence);
  }
  for (const PartPoint& point : points) above.push_back(point.sequence - least);
  AppendVarint(out, least);
  out->push_back(static_cast<char>(BitWidth(most - least)));
  PackBits(above, BitWidth(most - least), out);
}

void EncodeValues(std::span<const PartPoint> points, RowClass how, Bytes* out) {
  if (how == kPlain) {
    for (const PartPoint& point : points)
      out->push_back(static_cast<char>(point.qualifier.flags()));
    for (const PartPoint& point : points) AppendBig(out, point.bits, 8);
    return;
  }
  if (how == kMixed)
    AppendMarks(
        points, [](codec::Qualifier q) { return q.is_float(); }, out);
  const auto integers = std::count_if(points.begin(), points.end(), [](const PartPoint& point) {
    return !point.qualifier.is_float();
  });
  std::vector<PointValue> values(points.size());  // first the integers, then the floats
  auto next_integer = values.begin();
  auto next_float = values.begin() + integers;
  for (const PartPoint& point : points) {
    *(point.qualifier.is_float() ? next_float : next_integer)++ = {point.bits,
                                                                   point.qualifier.flags()};
  }
  const std::span<const PointValue> all = values;
  if (how != kFloats) EncodeInts(all.first(static_cast<size_t>(integers)), out);
  if (how != kInts) EncodeFloats(all.subspan(static_cast<size_t>(integers)), out);
}

// Returns nullopt if no reader would use the statistics.
std::optional<RowStatistics> StatisticsOfPoints(std::span<const PartPoint> points,
                                                const RowTraits& traits, RowClass how) {
  if (points.size() < kStatisticsPointsMin || traits.dups || traits.has_raw || how > kFloats)
    return {};
  RowColumns columns;
  columns.Resize(points.size());
  columns.all_double = how == kFloats;
  for (size_t i = 0; i < points.size(); ++i) {
    columns.offset_ms[i] = points[i].offset_ms();
    columns.value[i] = points[i].bits;
  }
  for (size_t i = 0; columns.all_double && i < points.size(); ++i) {
    const PointValue value{points[i].bits, points[i].qualifier.flags()};
    columns.value[i] = std::bit_cast<uint64_t>(value.as_double());
  }
  return StatisticsOf(columns);
}

void EncodeAs(std::span<const PartPoint> points, const RowTraits& traits, RowClass how,
              Bytes* out) {
  uint8_t head = static_cast<uint8_t>(traits.form) | static_cast<uint8_t>(how << kRowClassShift);
  if (traits.dups) head |= kRowDups;
  const bool sequences =
      traits.has_raw && std::any_of(points.begin(), points.end(),
                                    [](const PartPoint& point) { return point.sequence != 0; });
  if (traits.has_raw) head |= kRowHasRaw;
  if (sequences) head |= kRowSequences;
  const std::optional<RowStatistics> statistics = StatisticsOfPoints(points, traits, how);
  if (statistics) head |= kRowMore;
  out->push_back(static_cast<char>(head));
  if (statistics) out->push_back(static_cast<char>(kRowHasStatistics));
  AppendVarint(out, points.size());
  EncodeTimes(points, out);
  if (statistics) AppendStatistics(*statistics, out);
  EncodeValues(points, how, out);
  if (sequences) EncodeSequences(points, out);
}

// ---- decoding

struct Head {
  RowTraits traits;
  RowClass how = kInts;
  bool sequences = false;
  bool statistics = false;
  size_t count = 0;
};

template <typename Reader>
bool TakeHead(Reader* in, Head* head) {
  const uint8_t bits = in->U8();
  head->traits.form = static_cast<RowForm>(bits & kRowFormMask);
  head->traits.dups = (bits & kRowDups) != 0;
  head->traits.has_raw = (bits & kRowHasRaw) != 0;
  head->sequences = (bits & kRowSequences) != 0;
  head->how = static_cast<RowClass>(bits >> kRowClassShift);
  const uint8_t more = (bits & kRowMore) != 0 ? in->U8() : 0;
  head->statistics = more == kRowHasStatistics;
  if (more > kRowHasStatistics) return false;
  if (head->statistics && (head->how > kFloats || head->sequences)) return false;
  const uint64_t count = in->Varint();
  head->count = count;
  if (!in->ok() || count == 0 || count > kRowPointsMax) return false;
  // Damaged bytes must not cause a large allocation. The encoder stores long rows that fail this
  // test as kPlain.
  return count <= kCheapCountMax || in->rest().size() >= count / 8;
}

// Writes n offsets with a constant step. The compiler vectorizes loops of a constant size.
void FillGrid(uint32_t first, uint32_t step, size_t n, uint32_t* offset_ms) {
  constexpr uint32_t kPiece = 16;
  size_t i = 0;
  for (; i + kPiece <= n; i += kPiece) {
    const uint32_t at = first + static_cast<uint32_t>(i) * step;
    for (uint32_t k = 0; k < kPiece; ++k) offset_ms[i + k] = at + k * step;
  }
  for (; i < n; ++i) offset_ms[i] = first + static_cast<uint32_t>(i) * step;
}

// Fills offset_ms. Sets *millis to the resolution of all points. If the points have both
// resolutions, sets *marks to one packed bit per point.
bool TakeTimes(ByteReader* in, size_t n, uint32_t* offset_ms, bool* millis, ByteView* marks) {
  const uint8_t kind = in->U8();
  if (!in->ok() || kind > kBoth) return false;
  *millis = kind >= kMillisGrid;
  const uint64_t unit = *millis ? 1 : 1000;
  const uint64_t first = in->Varint();
  const uint64_t least = n > 1 ? in->Varint() : 0;
  if (!in->ok() || first > kOffsetMsMax || least > kOffsetMsMax) return false;
  uint64_t at = first * unit;
  bool inside = at <= kOffsetMsMax;
  offset_ms[0] = static_cast<uint32_t>(at);
  if (kind == kSecondsGrid || kind == kMillisGrid) {
    inside &= at + least * unit * (n - 1) <= kOffsetMsMax;
    if (inside) FillGrid(offset_ms[0], static_cast<uint32_t>(least * unit), n, offset_ms);
    return inside;
  }
  int width = 0;
  const ByteView packed = in->Packed(n - 1, &width);
  if (!in->ok() || width > 22) return false;
  UnpackBits(packed, n - 1, width, [&](size_t i, uint64_t above) {
    at += (least + above) * unit;
    inside &= at <= kOffsetMsMax;
    offset_ms[i + 1] = static_cast<uint32_t>(at);
  });
  if (kind == kBoth) *marks = in->Take(PackedBytes(n, 1));
  return inside && in->ok();
}

// Skips the times and sets *first_ms to the first one.
template <typename Reader>
bool PassTimes(Reader* in, size_t n, uint64_t* first_ms) {
  const uint8_t kind = in->U8();
  if (!in->ok() || kind > kBoth) return false;
  *first_ms = in->Varint() * (kind >= kMillisGrid ? 1 : 1000);
  if (n > 1) in->Varint();
  if (kind == kSecondsGrid || kind == kMillisGrid) return in->ok();
  int width = 0;
  in->Packed(n - 1, &width);
  if (kind == kBoth) in->Take(PackedBytes(n, 1));
  return in->ok();
}

// Reads the statistics after the head of a row. Returns nullptr, or the name of the unreadable
// field.
template <typename Reader>
const char* TakeRowStatistics(Reader* in, const Head& head, RowStatistics* statistics) {
  uint64_t first_ms = 0;
  if (!PassTimes(in, head.count, &first_ms)) return "times";
  if (!TakeStatistics(in, head.how == kFloats, statistics) || first_ms > statistics->last_offset_ms)
    return "statistics";
  statistics->count = static_cast<uint32_t>(head.count);
  statistics->first_offset_ms = static_cast<uint32_t>(first_ms);
  return nullptr;
}

bool Settled(const Head& head) { return !head.traits.dups && !head.traits.has_raw; }

bool PassStatistics(ByteReader* in, const Head& head) {
  RowStatistics statistics;
  return !head.statistics || TakeStatistics(in, head.how == kFloats, &statistics);
}

// The values of a row as 64-bit numbers, and the data needed to restore their stored forms.
struct Values {
  StreamRest ints;
  StreamRest floats;
  ByteView marks;  // kMixed: one bit per point, 1 = float

  [[nodiscard]] static bool Mark(ByteView marks, size_t i) {
    return (ByteAt(marks, i / 8) >> (i % 8) & 1) != 0;
  }
};

bool TakeValues(ByteReader* in, const Head& head, uint64_t* wide, Values* values) {
  const size_t n = head.count;
  if (head.how == kInts) return DecodeInts(in, n, wide, &values->ints);
  if (head.how == kFloats) return DecodeFloats(in, n, wide, &values->floats);
  values->marks = in->Take(PackedBytes(n, 1));
  if (!in->ok()) return false;
  size_t floats = 0;
  for (size_t i = 0; i < n; ++i) floats += Values::Mark(values->marks, i);
  std::vector<uint64_t> parts(n);
  if (floats == 0 || floats == n) return false;
  if (!DecodeInts(in, n - floats, parts.data(), &values->ints)) return false;
  if (!DecodeFloats(in, floats, parts.data() + (n - floats), &values->floats)) return false;
  size_t next_int = 0;
  size_t next_float = n - floats;
  for (size_t i = 0; i < n; ++i) {
    wide[i] = parts[Values::Mark(values->marks, i) ? next_float++ : next_int++];
  }
  return true;
}

template <typename Put>
bool TakePlain(ByteReader* in, size_t n, Put&& put) {
  const ByteView flags = in->Take(n);
  const ByteView bits = in->Take(n * 8);
  if (!in->ok()) return false;
  for (size_t i = 0; i < n; ++i) {
    if (!ValidPointFlags(ByteAt(flags, i))) return false;
    put(i, PointValue{ReadBig64(bits.data() + 8 * i), ByteAt(flags, i)});
  }
  return true;
}

// Calls put(i, value) for each number of one stream. The value is by_rule(i), unless the stream has
// an exception at i.
template <typename ByRule, typename Put>
void ForStream(const StreamRest& rest, size_t n, ByRule&& by_rule, Put&& put) {
  size_t i = 0;
  for (const StreamException& exception : rest.exceptions) {
    for (; i < exception.position; ++i) put(i, by_rule(i));
    put(exception.position, exception.value);
    i = size_t{exception.position} + 1;
  }
  for (; i < n; ++i) put(i, by_rule(i));
}

// Restores the stored forms from 64-bit numbers by the rules and exceptions of the streams. Calls
// put(i, value) once for each i.
template <typename Put>
void ForStoredForms(const Head& head, const std::vector<uint64_t>& wide, const Values& values,
                    Put&& put) {
  const auto integer = [&, rule = values.ints.rule](size_t i) {
    return IntByRule(rule, static_cast<int64_t>(wide[i]));
  };
  const auto floating = [&, rule = values.floats.rule](size_t i) {
    return FloatByRule(rule, std::bit_cast<double>(wide[i]));
  };
  if (head.how == kInts) return ForStream(values.ints, head.count, integer, put);
  if (head.how == kFloats) return ForStream(values.floats, head.count, floating, put);
  size_t next[2] = {};       // position in each stream
  size_t exception[2] = {};  // next exception of each stream
  for (size_t i = 0; i < head.count; ++i) {
    const bool is_float = Values::Mark(values.marks, i);
    const StreamRest& rest = is_float ? values.floats : values.ints;
    size_t& e = exception[is_float];
    const size_t place = next[is_float]++;
    if (e < rest.exceptions.size() && rest.exceptions[e].position == place) {
      put(i, rest.exceptions[e++].value);
    } else {
      put(i, is_float ? floating(i) : integer(i));
    }
  }
}

template <typename Put>
bool TakeSequences(ByteReader* in, size_t n, Put&& put) {
  const uint64_t least = in->Varint();
  int width = 0;
  const ByteView packed = in->Packed(n, &width);
  if (!in->ok() || width > 64) return false;
  UnpackBits(packed, n, width, [&](size_t i, uint64_t above) { put(i, least + above); });
  return true;
}

codec::Qualifier QualifierOf(uint32_t offset_ms, bool millis, uint8_t flags) {
  return millis ? codec::Qualifier::Millis(offset_ms, flags)
                : codec::Qualifier::Seconds(offset_ms / 1000, flags);
}

// Decodes a row. Calls points.Start(count), then points.Time(i, qualifier without flags) and
// points.Value(i, value) for each point, and points.Sequence(i, number) for each point if the row
// has sequence numbers. The function makes no list of points, so a caller that compares points
// needs little memory.
template <typename Points>
Result<RowTraits> Decode(ByteView encoded, Points&& points) {
  ByteReader in(encoded);
  Head head;
  if (!TakeHead(&in, &head)) return Damaged("head");
  const auto put = [&](size_t i, const PointValue& value) { points.Value(i, value); };
  points.Start(head.count);
  {
    std::vector<uint32_t> offset_ms(head.count);
    bool all_millis = false;
    ByteView resolution;
    if (!TakeTimes(&in, head.count, offset_ms.data(), &all_millis, &resolution)) {
      return Damaged("times");
    }
    if (!PassStatistics(&in, head)) return Damaged("statistics");
    for (size_t i = 0; i < head.count; ++i) {
      const bool millis = resolution.empty() ? all_millis : Values::Mark(resolution, i);
      if (!millis && offset_ms[i] % 1000 != 0) return Damaged("fraction of a second in seconds");
      points.Time(i, QualifierOf(offset_ms[i], millis, 0));
    }
  }
  if (head.how == kPlain) {
    if (!TakePlain(&in, head.count, put)) return Damaged("plain values");
  } else {
    std::vector<uint64_t> wide(head.count);
    Values values;
    if (!TakeValues(&in, head, wide.data(), &values)) return Damaged("values");
    ForStoredForms(head, wide, values, put);
  }
  const auto put_sequence = [&](size_t i, uint64_t number) { points.Sequence(i, number); };
  if (head.sequences && !TakeSequences(&in, head.count, put_sequence)) return Damaged("sequences");
  if (!in.rest().empty()) return Damaged("bytes left over");
  return head.traits;
}

bool DecodesTo(ByteView encoded, std::span<const PartPoint> points, const RowTraits& traits) {
  struct Comparison {
    void Start(size_t count) { same = count == points.size(); }
    void Time(size_t i, codec::Qualifier q) {
      same = same && q == points[i].qualifier.with_flags(0);
    }
    void Value(size_t i, const PointValue& value) {
      same = same && value == PointValue{points[i].bits, points[i].qualifier.flags()};
    }
    void Sequence(size_t i, uint64_t number) {
      sequences = true;
      same = same && number == points[i].sequence;
    }
    const std::span<const PartPoint> points;
    bool same = true;
    bool sequences = false;
  } found{points};
  const auto read = Decode(encoded, found);
  if (!read.ok() || *read != traits || !found.same) return false;
  return !traits.has_raw || found.sequences ||
         std::all_of(points.begin(), points.end(),
                     [](const PartPoint& point) { return point.sequence == 0; });
}

}  // namespace

void EncodeRow(std::span<const PartPoint> points, const RowTraits& traits, Bytes* out) {
  INVARIANT(!points.empty());
  RowTraits found = traits;
  found.dups = std::adjacent_find(points.begin(), points.end(), [](const auto& a, const auto& b) {
                 return a.offset_ms() == b.offset_ms();
               }) != points.end();
  size_t floats = 0;
  for (const PartPoint& point : points) floats += point.qualifier.is_float();
  const RowClass how = floats == 0 ? kInts : floats == points.size() ? kFloats : kMixed;
  const size_t start = out->size();
  EncodeAs(points, found, how, out);
  if (DecodesTo(ByteView(*out).substr(start), points, found)) return;
  out->resize(start);
  EncodeAs(points, found, kPlain, out);
  INVARIANT(DecodesTo(ByteView(*out).substr(start), points, found));
}

Result<RowSummary> ReadRowSummary(ByteView encoded) {
  ByteReader in(encoded);
  Head head;
  if (!TakeHead(&in, &head)) return Damaged("head");
  return RowSummary{head.traits, static_cast<uint32_t>(head.count)};
}

Result<std::optional<RowStatistics>> ReadRowStatistics(ByteView encoded) {
  ByteReader in(encoded);
  Head head;
  if (!TakeHead(&in, &head)) return Damaged("head");
  if (!head.statistics) return std::optional<RowStatistics>();
  RowStatistics found;
  if (const char* wrong = TakeRowStatistics(&in, head, &found)) return Damaged(wrong);
  return std::optional(found);
}

bool ReadSettledStatistics(ByteView encoded, RowStatistics* statistics) {
  // Maximum size of the head and the statistics: two bytes of head, the kinds of times and of
  // numbers, and eight numbers.
  constexpr size_t kBytesMax = 4 + 8 * kVarint64Max;
  Head head;
  if (encoded.size() >= kBytesMax) {
    AmpleReader in(encoded);
    if (TakeHead(&in, &head) && head.statistics && Settled(head) &&
        TakeRowStatistics(&in, head, statistics) == nullptr)
      return true;
  }
  ByteReader in(encoded);
  return TakeHead(&in, &head) && head.statistics && Settled(head) &&
         TakeRowStatistics(&in, head, statistics) == nullptr;
}

Result<RowTraits> DecodeRow(ByteView encoded, uint64_t sequence, std::vector<PartPoint>* points) {
  struct Collection {
    void Start(size_t count) {
      points->resize(count);
      out = points->data();
    }
    void Time(size_t i, codec::Qualifier q) { out[i] = {q, sequence, 0}; }
    void Value(size_t i, const PointValue& value) {
      out[i].qualifier = out[i].qualifier.with_flags(value.flags);
      out[i].bits = value.bits;
    }
    void Sequence(size_t i, uint64_t number) { out[i].sequence = number; }
    std::vector<PartPoint>* const points;
    const uint64_t sequence;
    PartPoint* out = nullptr;
  };
  return Decode(encoded, Collection{points, sequence});
}

void RowColumns::Clear() {
  offset_ms.clear();
  value.clear();
  is_double.clear();
  all_double = false;
}

void RowColumns::MarkMixed(size_t at, size_t count, bool doubles) {
  if (is_double.empty()) is_double.assign(at, all_double ? 1 : 0);
  is_double.insert(is_double.end(), count, doubles ? 1 : 0);
}

// Returns the number of leading points that are in strictly ascending order of time. The loop works
// on blocks of a constant size, so that the compiler vectorizes the comparison.
static size_t RisingCount(const std::vector<uint32_t>& offset_ms) {
  constexpr size_t kPiece = 16;
  const size_t n = offset_ms.size();
  size_t i = 1;
  for (; i + kPiece <= n; i += kPiece) {
    const uint32_t* const at = offset_ms.data() + i;
    int32_t falls = 0;
    for (size_t k = 0; k < kPiece; ++k) {
      falls |= static_cast<int32_t>(at[k]) <= static_cast<int32_t>(at[k - 1]) ? -1 : 0;
    }
    if (falls != 0) break;
  }
  while (i < n && offset_ms[i] > offset_ms[i - 1]) ++i;
  return std::min(i, n);
}

bool RowColumns::SortByTime() {
  const size_t rising = RisingCount(offset_ms);
  if (rising == offset_ms.size()) return true;
  // Points from several connections are nearly in order, so an insertion sort moves each point by
  // few positions. For other orders, a full sort is used.
  size_t moves_left = size() * 8;
  for (size_t i = rising; i < size(); ++i) {
    const uint32_t offset = offset_ms[i];
    if (offset_ms[i - 1] <= offset) continue;
    const uint64_t bits = value[i];
    const uint8_t kind = is_double.empty() ? 0 : is_double[i];
    size_t at = i;
    for (; at > 0 && offset_ms[at - 1] > offset && moves_left > 0; --at, --moves_left) {
      offset_ms[at] = offset_ms[at - 1];
      value[at] = value[at - 1];
      if (!is_double.empty()) is_double[at] = is_double[at - 1];
    }
    offset_ms[at] = offset;
    value[at] = bits;
    if (!is_double.empty()) is_double[at] = kind;
    if (moves_left == 0) {
      SortAnew();
      break;
    }
  }
  return RisingCount(offset_ms) == size();
}

void RowColumns::SortAnew() {
  std::vector<uint64_t> keys(size());  // time and position
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = uint64_t{offset_ms[i]} << 32 | i;
  std::sort(keys.begin(), keys.end());
  Permute(keys);
}

void RowColumns::Permute(const std::vector<uint64_t>& keys) {
  std::vector<uint64_t> values(size());
  for (size_t i = 0; i < size(); ++i) {
    offset_ms[i] = static_cast<uint32_t>(keys[i] >> 32);
    values[i] = value[static_cast<uint32_t>(keys[i])];
  }
  value.swap(values);
  if (is_double.empty()) return;
  std::vector<uint8_t> kinds(size());
  for (size_t i = 0; i < size(); ++i) kinds[i] = is_double[static_cast<uint32_t>(keys[i])];
  is_double.swap(kinds);
}

Status AppendColumns(ByteView encoded, RowColumns* columns) {
  ByteReader in(encoded);
  Head head;
  if (!TakeHead(&in, &head)) return Damaged("head");
  const size_t before = columns->size();
  columns->Resize(before + head.count);
  uint64_t* const value = columns->value.data() + before;
  bool millis = false;
  ByteView resolution;
  if (!TakeTimes(&in, head.count, columns->offset_ms.data() + before, &millis, &resolution)) {
    return Damaged("times");
  }
  if (!PassStatistics(&in, head)) return Damaged("statistics");
  if (head.how == kInts || head.how == kFloats) {
    Values values;
    if (!TakeValues(&in, head, value, &values)) return Damaged("values");
    columns->MarkKind(before, head.count, head.how == kFloats);
    return {};
  }
  if (columns->is_double.empty()) columns->is_double.assign(before, columns->all_double ? 1 : 0);
  if (head.how == kMixed) {
    Values values;
    if (!TakeValues(&in, head, value, &values)) return Damaged("values");
    for (size_t i = 0; i < head.count; ++i) {
      columns->is_double.push_back(Values::Mark(values.marks, i));
    }
    return {};
  }
  const bool read = TakePlain(&in, head.count, [&](size_t i, const PointValue& stored) {
    columns->is_double.push_back(stored.is_float());
    value[i] = stored.is_float() ? std::bit_cast<uint64_t>(stored.as_double()) : stored.bits;
  });
  return read ? Status() : Damaged("plain values");
}

}  // namespace hg::points
