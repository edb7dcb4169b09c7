#include "query/buckets/downsample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "query/buckets/column_values.h"
#include "query/buckets/fill_gaps.h"
#include "storage/model/exact_integers.h"
#include "storage/model/letter_case.h"
#include "storage/model/special_double.h"

namespace hg::query {
namespace {

std::optional<FillPolicy> FillByName(std::string_view name) {
  const std::string lower = LowerCase(name);
  if (lower == "none") return FillPolicy::kNone;
  if (lower == "nan") return FillPolicy::kNan;
  if (lower == "null") return FillPolicy::kNull;
  if (lower == "zero") return FillPolicy::kZero;
  if (lower == "scalar") return FillPolicy::kScalar;
  return std::nullopt;
}

// Splits at dashes. Drops empty parts at the end, like Java's String.split.
std::vector<std::string_view> SplitDashes(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at <= text.size();) {
    size_t dash = std::min(text.find('-', at), text.size());
    out.push_back(text.substr(at, dash - at));
    at = dash + 1;
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

int64_t Align(int64_t t, int64_t interval) { return t - t % interval; }

}  // namespace

Result<DownsampleSpec> ParseDownsample(std::string_view text) {
  std::vector<std::string_view> parts = SplitDashes(text);
  std::string prefix = "Invalid downsampling specifier '" + std::string(text) + "': must ";
  if (parts.size() < 2)
    return Status::InvalidArgument(prefix + "provide at least interval and function");
  if (parts.size() > 3)
    return Status::InvalidArgument(prefix +
                                   "consist of interval, function, and optional fill policy");
  // Java's exception has this text. The details of the error response show the specification.
  if (parts[0].empty()) return Status::InvalidArgument("String index out of range: -1");
  DownsampleSpec out;
  if (parts[0].find("all") != std::string_view::npos) {
    out.run_all = true;
  } else {
    if (parts[0].ends_with('c')) {
      out.calendar = true;
      parts[0].remove_suffix(1);
    }
    ASSIGN_OR_RETURN(out.interval, ParseDuration(parts[0]));
    if (out.interval.millis() > kIntervalMaxMs) {
      if (out.calendar) {
        return Status::InvalidArgument("The interval is too long for a calendar: " +
                                       std::string(text));
      }
      // The maximum has the same effect as the longer interval: all points since the epoch are in
      // one bucket.
      out.interval = {kIntervalMaxMs, TimeUnit::kMillis};
    }
  }
  out.function = FindAggregator(parts[1]);
  if (out.function == nullptr) {
    return Status::InvalidArgument("No such downsampling function: " + std::string(parts[1]));
  }
  if (out.function->function == Function::kNone) {
    return Status::InvalidArgument("cannot use the NONE aggregator for downsampling");
  }
  if (parts.size() == 3) {
    std::optional<FillPolicy> fill = FillByName(parts[2]);
    if (!fill) return Status::InvalidArgument("Unrecognized fill policy: " + std::string(parts[2]));
    out.fill = *fill;
  }
  return out;
}

namespace {

int64_t FillBuckets(const DownsampleSpec& spec, const ScanWindow& window) {
  if (spec.run_all || spec.fill == FillPolicy::kNone) return 0;
  const int64_t span_ms = window.end_ms() - window.begin_ms();
  return std::max<int64_t>(span_ms, 0) / spec.interval_ms();
}

// The cost of finding a calendar boundary, in steps. Looking up the time zone takes as long as
// reading some points.
constexpr uint64_t kBoundarySteps = 16;
// Number of buckets of a fill policy between two reports to the context.
constexpr size_t kBucketsPerLook = 1 << 16;

// If a row has fewer values per bucket on average, values are added one by one.
constexpr size_t kFewValues = 24;

// Returns the number of elements for which a vector needs memory while it grows by doubling. The
// old and the new memory are counted together.
template <typename T>
size_t RoomFor(const std::vector<T>& v, size_t more) {
  const size_t size = v.size() + more;
  if (size <= v.capacity()) return v.capacity();
  return v.capacity() + std::max(size, 2 * v.capacity());
}

// Returns the initial capacity of a series, in buckets.
size_t FirstRoom(const DownsampleSpec& spec) { return spec.run_all ? 1 : 8; }

// Returns whether a function needs all values of a bucket at once.
bool Collects(Function function) {
  switch (function) {
    case Function::kSum:
    case Function::kAvg:
    case Function::kMin:
    case Function::kMax:
    case Function::kCount:
    case Function::kFirst:
    case Function::kLast:
      return false;
    default:
      return true;
  }
}

// Returns the value of a bucket whose values were not collected.
double ValueOf(Function function, const RunningSum& running) {
  switch (function) {
    case Function::kAvg:
      return running.count > 0 ? running.sum / static_cast<double>(running.count) : kNan;
    case Function::kMin:
    case Function::kMax:
      return std::isinf(running.sum) && (running.sum > 0) == (function == Function::kMin)
                 ? kNan
                 : running.sum;
    case Function::kCount:
      return static_cast<double>(running.count);
    case Function::kFirst:
    case Function::kLast:
      return running.sum;
    default:
      return running.count > 0 ? running.sum : kNan;  // kSum
  }
}

constexpr size_t kCollectedBytes = sizeof(double);

}  // namespace

BucketGrid::BucketGrid(const DownsampleSpec& spec, const ScanWindow& window, int64_t start_ms,
                       int64_t end_ms)
    : spec_(spec), interval_ms_(spec.interval_ms()), start_ms_(start_ms) {
  if (spec.run_all) {
    first_point_ms_ = start_ms;
    end_point_ms_ = end_ms;
    return;
  }
  if (spec.calendar) {
    calendar_.emplace(spec.interval, spec.zone);
    first_point_ms_ = calendar_->Seek(window.begin_ms());
    return;
  }
  first_point_ms_ = Align(window.begin_ms() + interval_ms_ - 1, interval_ms_);
}

Status BucketGrid::BuildFillGrid(const ScanWindow& window, MemoryTally* memory) {
  const int64_t buckets = FillBuckets(spec_, window);
  if (spec_.run_all || spec_.fill == FillPolicy::kNone) return {};
  if (buckets > kFillBucketsMax) {
    return Status::LimitExceeded("A fill policy would give " + std::to_string(buckets) +
                                 " buckets for each series, more than " +
                                 std::to_string(kFillBucketsMax) +
                                 ": take a longer interval or a shorter time range");
  }
  // The 2 additional buckets are at the ends of the window.
  const auto room = static_cast<size_t>(buckets) + 2;
  const uint64_t bucket_steps = calendar_ ? kBoundarySteps : 1;
  RETURN_IF_ERROR(memory->Step(std::min(room, kBucketsPerLook) * bucket_steps));
  RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(room * sizeof(int64_t))));
  fill_grid_.reserve(room);
  const auto next = [this](int64_t at) {
    return calendar_ ? calendar_->Next(at) : at + interval_ms_;
  };
  int64_t end = Align(window.end_ms(), interval_ms_);
  int64_t at = Align(window.begin_ms(), interval_ms_);
  if (calendar_) {
    end = calendar_->PreviousBoundary(window.end_ms());
    at = calendar_->PreviousBoundary(window.begin_ms());
  }
  while (at < end || (calendar_ && fill_grid_.empty())) {
    fill_grid_.push_back(at);
    if (fill_grid_.size() % kBucketsPerLook == 0)
      RETURN_IF_ERROR(memory->Step(kBucketsPerLook * bucket_steps));
    const int64_t following = next(at);
    if (following <= at) break;
    at = following;
  }
  return {};
}

int64_t BucketGrid::FirstBucket(int64_t t) const {
  if (spec_.run_all) return start_ms_;
  return calendar_ ? calendar_->PreviousBoundary(t) : Align(t, interval_ms_);
}

int64_t BucketGrid::BucketEnd(int64_t start) const {
  if (spec_.run_all) return std::numeric_limits<int64_t>::max();
  return calendar_ ? calendar_->Next(start) : start + interval_ms_;
}

// Each calendar bucket begins at the end of the one before it, from the first bucket on (quirk
// Q11). Fixed buckets are aligned to the epoch.
int64_t BucketGrid::BucketOf(int64_t t, int64_t open_start, int64_t* end, uint64_t* steps) const {
  if (!calendar_) {
    // In most cases this is the next bucket, which can be found without a division.
    const int64_t next = open_start + interval_ms_;
    const int64_t start = t >= next && t - next < interval_ms_ ? next : FirstBucket(t);
    *end = BucketEnd(start);
    return start;
  }
  *end = BucketEnd(open_start);
  if (t < *end) return open_start;
  // The point is usually in the bucket after the open one. If the point is later, the buckets in
  // between are empty and are skipped.
  int64_t start = *end;
  *end = BucketEnd(start);
  if (t < *end) return start;
  start = calendar_->LastUpTo(start, t, steps);
  *end = BucketEnd(start);
  return start;
}

Downsampler::Bucket Downsampler::NextBucket(int64_t t) {
  Bucket next{};
  if (bucket_end_ == std::numeric_limits<int64_t>::min()) {
    next.start = grid_->FirstBucket(t);
    next.end = grid_->BucketEnd(next.start);
  } else {
    next.start = grid_->BucketOf(t, bucket_start_, &next.end, &calendar_steps_);
  }
  return next;
}

void Downsampler::Open(const Bucket& bucket) {
  if (bucket_end_ != std::numeric_limits<int64_t>::min()) Close();
  bucket_start_ = bucket.start;
  bucket_end_ = bucket.end;
  running_ = {};
  magnitude_ = 0;
}

template <typename T>
void Downsampler::AddPoints(int64_t base_ms, std::span<const uint32_t> offset_ms,
                            std::span<const T> values) {
  size_t i = 0;
  size_t n = offset_ms.size();
  if (n > 0 && base_ms + offset_ms[0] < grid_->first_point_ms()) {
    const auto first = std::partition_point(
        offset_ms.begin(), offset_ms.end(),
        [&](uint32_t offset) { return base_ms + offset < grid_->first_point_ms(); });
    i = static_cast<size_t>(first - offset_ms.begin());
  }
  while (n > i && base_ms + offset_ms[n - 1] >= grid_->end_point_ms()) --n;
  bool short_runs = false;
  // Reserves memory for all buckets of the row at once.
  if (const int64_t interval = grid_->spec().interval_ms(); interval > 0 && i < n) {
    const int64_t buckets = (int64_t{offset_ms[n - 1]} - offset_ms[i]) / interval + 2;
    short_runs = buckets > 2 && n - i < static_cast<size_t>(buckets) * kFewValues;
    const size_t size = times_.size() + std::min(n - i, static_cast<size_t>(buckets));
    if (const size_t room = times_.capacity(); size > room) {
      times_.reserve(std::max(size, 2 * room));
      bits_.reserve(std::max(size, 2 * room));
    }
  }
  if (short_runs && AddShortRuns(base_ms, offset_ms.subspan(i, n - i), values.subspan(i, n - i)))
    i = n;
  while (i < n) {
    int64_t t = base_ms + offset_ms[i];
    if (t >= bucket_end_) Open(NextBucket(t));
    size_t run_end = i + 1;
    if (base_ms + offset_ms[n - 1] < bucket_end_) {
      run_end = n;
    } else {
      int64_t limit = bucket_end_ - base_ms;
      while (run_end < n && offset_ms[run_end] < limit) ++run_end;
    }
    Accumulate(values.subspan(i, run_end - i));
    i = run_end;
  }
  magnitude_ = kInfinity;
}

// Returns the distance between successive instants if it is always the same, as it usually is, else
// 0. The loop works on pieces of a constant size, so that the compiler can compare several instants
// at once.
static uint32_t StepOf(std::span<const uint32_t> offset_ms) {
  constexpr size_t kPiece = 16;
  if (offset_ms.size() < 2 * kPiece) return 0;
  const uint32_t step = offset_ms[1] - offset_ms[0];
  size_t i = 1;
  uint32_t differ = 0;
  for (; i + kPiece <= offset_ms.size() && differ == 0; i += kPiece) {
    const uint32_t* const at = offset_ms.data() + i;
    for (size_t k = 0; k < kPiece; ++k) differ |= (at[k] - at[k - 1]) ^ step;
  }
  for (; i < offset_ms.size(); ++i) differ |= (offset_ms[i] - offset_ms[i - 1]) ^ step;
  return differ == 0 ? step : 0;
}

// Fast path for instants with a constant distance that divides the interval. All whole buckets then
// get the same number of values. The first value must not belong to the open bucket. Returns the
// number of values that were added, or 0 if the fast path cannot be used.
template <typename T, typename Fold>
size_t Downsampler::FoldWholeBuckets(int64_t base_ms, std::span<const uint32_t> offset_ms,
                                     std::span<const T> values, Fold fold) {
  const int64_t interval = grid_->spec().interval_ms();
  const uint32_t step = grid_->spec().calendar ? 0 : StepOf(offset_ms);
  if (step == 0 || interval % step != 0) return 0;
  const int64_t first = base_ms + offset_ms[0];
  Bucket next = NextBucket(first);
  if (first - next.start >= step) return 0;
  const auto count = static_cast<size_t>(interval / step);
  const size_t whole = values.size() / count;
  if (whole == 0) return 0;
  Open(next);
  // Space for all these buckets except the last is reserved in one step. The last one stays open.
  const Function function = grid_->spec().function->function;
  const size_t closed = times_.size();
  times_.resize(closed + whole - 1);
  bits_.resize(closed + whole - 1);
  const T* value = values.data();
  for (size_t b = 0; b < whole; ++b, value += count) {
    RunningSum running = {};
    for (size_t k = 0; k < count; ++k) fold(value[k], &running);
    if (b + 1 == whole) {
      running_ = running;
      break;
    }
    times_[closed + b] = bucket_start_;
    bits_[closed + b] = std::bit_cast<uint64_t>(ValueOf(function, running));
    bucket_start_ = bucket_end_;
    bucket_end_ += interval;
  }
  return whole * count;
}

template <typename T, typename Fold>
void Downsampler::FoldShortRuns(int64_t base_ms, std::span<const uint32_t> offset_ms,
                                std::span<const T> values, Fold fold) {
  RunningSum running = running_;
  bool whole_buckets = true;  // FoldWholeBuckets was not tried yet
  for (size_t i = 0; i < values.size();) {
    if (const int64_t t = base_ms + offset_ms[i]; t >= bucket_end_) {
      running_ = running;
      Open(NextBucket(t));
      running = {};
    }
    const int64_t limit = bucket_end_ - base_ms;
    do {
      fold(values[i], &running);
    } while (++i < values.size() && offset_ms[i] < limit);
    if (!whole_buckets || i == values.size()) continue;
    whole_buckets = false;
    running_ = running;
    i += FoldWholeBuckets(base_ms, offset_ms.subspan(i), values.subspan(i), fold);
    running = running_;
  }
  running_ = running;
}

// Adds values one by one. For buckets with few values this is faster than the vector code of
// Accumulate. Returns false if the function is not supported.
template <typename T>
bool Downsampler::AddShortRuns(int64_t base_ms, std::span<const uint32_t> offset_ms,
                               std::span<const T> values) {
  constexpr bool kInts = std::is_same_v<T, int64_t>;
  switch (grid_->spec().function->function) {
    case Function::kSum:
    case Function::kAvg:
      FoldShortRuns(base_ms, offset_ms, values, [](T v, RunningSum* running) {
        if (!kInts && v != v) return;
        running->sum += static_cast<double>(v);
        ++running->count;
      });
      return true;
    case Function::kCount:
      FoldShortRuns(base_ms, offset_ms, values,
                    [](T v, RunningSum* running) { running->count += kInts || v == v ? 1 : 0; });
      return true;
    case Function::kMin:
      FoldShortRuns(base_ms, offset_ms, values, [](T v, RunningSum* running) {
        const double least = running->count == 0 ? kInfinity : running->sum;
        const auto value = static_cast<double>(v);
        running->sum = value < least ? value : least;
        running->count = 1;
      });
      return true;
    case Function::kMax:
      FoldShortRuns(base_ms, offset_ms, values, [](T v, RunningSum* running) {
        const double most = running->count == 0 ? -kInfinity : running->sum;
        const auto value = static_cast<double>(v);
        running->sum = value > most ? value : most;
        running->count = 1;
      });
      return true;
    default:
      return false;
  }
}

template void Downsampler::AddPoints(int64_t, std::span<const uint32_t>, std::span<const double>);
template void Downsampler::AddPoints(int64_t, std::span<const uint32_t>, std::span<const int64_t>);

bool TakesStatistics(const DownsampleSpec& spec) {
  switch (spec.function->function) {
    case Function::kSum:
    case Function::kAvg:
    case Function::kMin:
    case Function::kMax:
    case Function::kCount:
      return true;
    default:
      return false;
  }
}

bool Downsampler::AddStatistics(int64_t base_ms, const RowStatistics& row, bool any_order) {
  const int64_t first = base_ms + row.first_offset_ms, last = base_ms + row.last_offset_ms;
  if (any_order && last < grid_->first_point_ms()) return true;
  if (!TakesStatistics(grid_->spec()) || first < grid_->first_point_ms() ||
      last >= grid_->end_point_ms())
    return false;
  const bool opens = first >= bucket_end_;
  const Bucket bucket = opens ? NextBucket(first) : Bucket{bucket_start_, bucket_end_};
  if (last >= bucket.end) return false;
  const Function function = grid_->spec().function->function;
  const double magnitude =
      (opens ? 0 : magnitude_) + (row.all_double ? kInfinity : row.magnitude());
  const bool sums = function == Function::kSum || function == Function::kAvg;
  if (sums && !opens && !any_order && magnitude > kExactIntegerMax) return false;
  if (opens) Open(bucket);
  magnitude_ = magnitude;
  const bool first_run = running_.count == 0;
  switch (function) {
    case Function::kMin:
      if (first_run || row.least < running_.sum) running_.sum = row.least;
      break;
    case Function::kMax:
      if (first_run || row.most > running_.sum) running_.sum = row.most;
      break;
    default:
      running_.sum += row.sum;
  }
  running_.count += row.count;
  return true;
}

size_t Downsampler::AddStatistics(std::span<const HourStatistics> hours, bool any_order) {
  if (hours.empty()) return 0;
  const DownsampleSpec& spec = grid_->spec();
  if (!spec.run_all) {
    const int64_t span_ms = int64_t{hours.back().base - hours.front().base} * 1000;
    const auto buckets = static_cast<size_t>(span_ms / spec.interval_ms()) + 2;
    MakeRoom(std::min(hours.size(), buckets) + 1);  // includes the open bucket
  }
  size_t added = 0;
  for (const HourStatistics& hour : hours) {
    if (!AddStatistics(int64_t{hour.base} * 1000, hour.statistics, any_order)) break;
    ++added;
  }
  return added;
}

// Adds values to the open bucket. The result for the whole bucket must be the same as that of
// RunDouble, with the same order of additions and the same treatment of NaN.
template <typename T>
void Downsampler::Accumulate(std::span<const T> values) {
  bool first_run = running_.count == 0;
  switch (grid_->spec().function->function) {
    case Function::kSum:
    case Function::kAvg:
      AddChunk(values, &running_);
      return;
    case Function::kMin:
      running_.sum = LeastOf(first_run ? kInfinity : running_.sum, values);
      running_.count = 1;
      return;
    case Function::kMax:
      running_.sum = GreatestOf(first_run ? -kInfinity : running_.sum, values);
      running_.count = 1;
      return;
    case Function::kCount:
      if constexpr (std::is_same_v<T, double>) {
        running_.count += CountNumbers(values);
      } else {
        running_.count += static_cast<int64_t>(values.size());
      }
      return;
    case Function::kFirst:
      if (first_run) running_.sum = static_cast<double>(values.front());
      running_.count = 1;
      return;
    case Function::kLast:
      running_.sum = static_cast<double>(values.back());
      return;
    default:
      collected_.insert(collected_.end(), values.begin(), values.end());
  }
}

void Downsampler::Close() {
  const Function function = grid_->spec().function->function;
  double value;
  if (Collects(function)) {
    value = RunDoubleInPlace(*grid_->spec().function, &collected_);
    collected_.clear();
  } else {
    value = ValueOf(function, running_);
  }
  MakeRoom(1);
  times_.push_back(bucket_start_);
  bits_.push_back(std::bit_cast<uint64_t>(value));
}

void Downsampler::MakeRoom(size_t buckets) {
  const size_t size = times_.size() + buckets, room = times_.capacity();
  if (size <= room) return;
  const size_t wanted = std::max({size, FirstRoom(grid_->spec()), 2 * room});
  times_.reserve(wanted);
  bits_.reserve(wanted);
}

uint64_t Downsampler::TakeCalendarSteps() {
  return std::exchange(calendar_steps_, 0) * kBoundarySteps;
}

int64_t Downsampler::MemoryBytes() const {
  return static_cast<int64_t>(times_.capacity() * kPointBytes +
                              collected_.capacity() * kCollectedBytes);
}

int64_t Downsampler::MemoryBytesAfter(size_t points) const {
  const bool collects = Collects(grid_->spec().function->function);
  const size_t collected = RoomFor(collected_, collects ? points : 0);
  const size_t buckets = std::max(RoomFor(times_, points), FirstRoom(grid_->spec()));
  return static_cast<int64_t>(buckets * kPointBytes + collected * kCollectedBytes);
}

int64_t Downsampler::MemoryBytesAtFinish() const {
  return MemoryBytes() + static_cast<int64_t>(grid_->fill_grid().size()) * kPointBytes;
}

Status Downsampler::Finish(PointColumns* out) {
  if (bucket_end_ != std::numeric_limits<int64_t>::min()) Close();
  out->kinds.clear();
  out->all_double = true;
  out->time_ms = std::move(times_);
  out->bits = std::move(bits_);
  return Fill(out);
}

Status Downsampler::Fill(PointColumns* out) { return FillGaps(*grid_, out); }

}  // namespace hg::query
