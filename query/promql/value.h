#pragma once
// The results of PromQL expressions: a number for each step, or a column of numbers for each
// series.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/promql/labels.h"
#include "query/promql/sample.h"
#include "query/promql/steps.h"
#include "query/promql/syntax.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// One number for each step. At a step without a sample, the number is Absent().
using Column = std::vector<double>;

struct VectorSeries {
  Labels labels;
  Column values;
};

/// The raw samples of one series, in ascending order of time, without stale markers.
struct RangeSeries {
  Labels labels;
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

/// Keeps memory charged to a MemoryTally as long as the hold exists. A hold can be moved.
class MemoryHold {
 public:
  MemoryHold() = default;
  MemoryHold(MemoryHold&& other) noexcept
      : tally_(other.tally_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryHold& operator=(MemoryHold&& other) noexcept {
    std::swap(tally_, other.tally_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryHold() {
    if (bytes_ > 0) tally_->Remove(bytes_);
  }

  /// Charges more memory to `tally`, which must outlive the hold. All calls for one hold must use
  /// the same tally. Fails if `tally` reports an error.
  Status Add(MemoryTally* tally, int64_t bytes) {
    RETURN_IF_ERROR(tally->Add(bytes));
    tally_ = tally;
    bytes_ += bytes;
    return {};
  }
  /// Takes over the bytes of the hold `other`, and charges them to `tally`. Fails if `tally`
  /// reports an error.
  Status Take(MemoryHold* other, MemoryTally* tally) {
    const int64_t bytes = other->bytes_;
    { const MemoryHold given_back = std::move(*other); }
    return Add(tally, bytes);
  }

 private:
  MemoryTally* tally_ = nullptr;
  int64_t bytes_ = 0;
};

/// The result of an expression. Only the member that belongs to the type of the result is set. A
/// value can be moved.
struct Value {
  ValueType type = ValueType::kScalar;
  Column scalar;     // the result if the type is kScalar
  std::string text;  // the result if the type is kString
  /// The result if the type is kVector; a series may have no samples.
  std::vector<VectorSeries> vector;
  std::vector<RangeSeries> matrix;  // the result if the type is kMatrix
  MemoryHold memory;
};

/// Assigns the numbers 0, 1, 2, … to sets of labels, in the order in which new sets are passed to
/// Of. Charges its memory to a MemoryTally. The object is not thread-safe.
class SeriesNumbers {
 public:
  /// `tally` must outlive the object; the object charges its memory to it.
  explicit SeriesNumbers(MemoryTally* tally) : tally_(tally) {}

  /// The number of a set of labels. `fresh` is true if the call that returned this assigned the
  /// number.
  struct Place {
    size_t number = 0;
    bool fresh = false;
  };
  /// Returns the number of a set of labels. If the set has no number yet, assigns the next one.
  /// Fails if `tally` reports an error.
  Result<Place> Of(const Labels& labels);
  [[nodiscard]] size_t size() const { return numbers_.size(); }

 private:
  MemoryTally* const tally_;
  MemoryHold memory_;
  /// The number of each set of labels; the key is Labels::Key.
  std::unordered_map<std::string, size_t> numbers_;
};

/// Builds a vector, one series after another. Merges series that have equal labels. The builder is
/// not thread-safe.
class VectorBuilder {
 public:
  /// `tally` must outlive the builder and the vector that it builds.
  VectorBuilder(const Steps& steps, MemoryTally* tally)
      : steps_(steps), tally_(tally), numbers_(tally) {
    value_.type = ValueType::kVector;
  }

  /// Returns the index of the series with these labels. If there is no such series, adds a series
  /// without samples.
  Result<size_t> SeriesOf(Labels labels);
  [[nodiscard]] Column& column(size_t series) { return value_.vector[series].values; }
  /// Adds a whole series. InvalidArgument: an earlier series with equal labels has a sample at the
  /// same step.
  Status Add(VectorSeries series);

  Value Take() { return std::move(value_); }

 private:
  const Steps steps_;
  MemoryTally* const tally_;
  Value value_;
  SeriesNumbers numbers_;
};

/// Charges the memory of one series to `hold`: its labels and a column of `count` numbers.
Status HoldSeries(const Labels& labels, size_t count, MemoryTally* tally, MemoryHold* hold);

/// Calls `at` for each step, from step 0 on. Charges the work after every few steps, because some
/// functions take a microsecond for each number.
template <typename At>
Status ForEachStep(size_t count, MemoryTally* tally, At at) {
  constexpr size_t kStepsAtOnce = 1024;
  for (size_t i = 0; i < count;) {
    const size_t end = std::min(i + kStepsAtOnce, count);
    RETURN_IF_ERROR(tally->Step(end - i));
    for (; i < end; ++i) at(i);
  }
  return {};
}

/// Makes a scalar: its number at each step is the result of `at` for this step.
template <typename At>
Result<Value> MakeScalar(size_t count, MemoryTally* tally, At at) {
  Value out;
  RETURN_IF_ERROR(out.memory.Add(tally, static_cast<int64_t>(count * sizeof(double))));
  out.scalar.resize(count);
  RETURN_IF_ERROR(ForEachStep(count, tally, [&](size_t i) { out.scalar[i] = at(i); }));
  return out;
}

/// Removes the metric names from a vector, and merges series whose labels become equal.
/// InvalidArgument: two merged series have samples at the same step.
Status DropNames(const Steps& steps, MemoryTally* tally, Value* vector);

/// Returns InvalidArgument if the vector has two series with samples and equal labels. Also fails
/// if `tally` reports an error.
Status RefuseEqualSeries(const Value& vector, MemoryTally* tally);

}  // namespace hg::query::promql
