#pragma once
// The results of PromQL expressions. A scalar has a number for each step. A vector has a column of
// numbers, one for each step, for each series.

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
#include "storage/base/keyed_hash.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query::promql {

/// One number for each step of a query. At a step without a sample, the number is Absent().
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

/// Keeps memory charged to a MemoryTally as long as the MemoryHold exists. A MemoryHold can be
/// moved.
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

  /// Charges `bytes` more bytes to `tally`, which must outlive this object. All calls for one
  /// object must use the same tally. Returns the errors of `tally`.
  Status Add(MemoryTally* tally, int64_t bytes) {
    RETURN_IF_ERROR(tally->Add(bytes));
    tally_ = tally;
    bytes_ += bytes;
    return {};
  }
  /// Takes over the bytes that `other` keeps charged, and charges them to `tally`. Returns the
  /// errors of `tally`; in this case, the bytes are no longer charged.
  Status Take(MemoryHold* other, MemoryTally* tally) {
    const int64_t bytes = other->bytes_;
    { const MemoryHold given_back = std::move(*other); }
    return Add(tally, bytes);
  }

 private:
  MemoryTally* tally_ = nullptr;
  int64_t bytes_ = 0;
};

/// The result of an expression. Only the member that belongs to `type` is set. A Value can be
/// moved, but not copied.
struct Value {
  ValueType type = ValueType::kScalar;
  Column scalar;     // the result if the type is kScalar
  std::string text;  // the result if the type is kString
  /// The result if the type is kVector. A series may have no sample at any step.
  std::vector<VectorSeries> vector;
  std::vector<RangeSeries> matrix;  // the result if the type is kMatrix
  MemoryHold memory;
};

/// Assigns the numbers 0, 1, 2, … to different sets of labels, in the order of the calls of Of. Not
/// thread-safe.
class SeriesNumbers {
 public:
  /// The memory of the object is charged to `tally`, which must outlive the object.
  explicit SeriesNumbers(MemoryTally* tally) : tally_(tally) {}

  /// The result of Of: the number of a set of labels. `fresh` is true if this call of Of assigned
  /// the number.
  struct Place {
    size_t number = 0;
    bool fresh = false;
  };
  /// Returns the number of a set of labels. If the set has no number yet, assigns the next number.
  /// Returns the errors of `tally`.
  Result<Place> Of(const Labels& labels);
  [[nodiscard]] size_t size() const { return numbers_.size(); }

 private:
  MemoryTally* const tally_;
  MemoryHold memory_;
  /// The number of each set of labels; the key is Labels::Key.
  std::unordered_map<std::string, size_t, keyed_hash::Hash> numbers_;
};

/// Builds an instant vector, one series after another. Merges series that have equal labels. Not
/// thread-safe.
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
  /// Adds a series with its samples. If the vector already has a series with equal labels, merges
  /// both series. InvalidArgument: both series have a sample at the same step.
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

/// Calls `at` with the index of each step, from 0 to count − 1. Charges the work after every
/// kStepsAtOnce steps, because some functions take a microsecond for each number.
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

/// Creates a scalar of `count` steps: its number at each step is the result of `at` for the index
/// of this step.
template <typename At>
Result<Value> MakeScalar(size_t count, MemoryTally* tally, At at) {
  Value out;
  RETURN_IF_ERROR(out.memory.Add(tally, static_cast<int64_t>(count * sizeof(double))));
  out.scalar.resize(count);
  RETURN_IF_ERROR(ForEachStep(count, tally, [&](size_t i) { out.scalar[i] = at(i); }));
  return out;
}

/// Removes the metric names from the series of a vector, and merges series whose labels become
/// equal. InvalidArgument: two merged series have samples at the same step.
Status DropNames(const Steps& steps, MemoryTally* tally, Value* vector);

/// Returns InvalidArgument if two series of an instant or range vector have samples and equal
/// labels. Also returns the errors of `tally`.
Status RefuseEqualSeries(const Value& vector, MemoryTally* tally);

}  // namespace hg::query::promql
