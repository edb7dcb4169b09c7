#pragma once
// The results of expressions: a number or a column of numbers for each step.

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

/// One number for each step. The number is Absent() at steps without a sample.
using Column = std::vector<double>;

struct VectorSeries {
  Labels labels;
  Column values;
};

/// Raw samples, in ascending time order, without stale markers.
struct RangeSeries {
  Labels labels;
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

/// Keeps memory charged to a MemoryTally as long as the object exists. Movable.
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

  /// Charges more memory. `tally` must outlive the object and must be the same in all calls. Fails
  /// with errors of `tally`.
  Status Add(MemoryTally* tally, int64_t bytes) {
    RETURN_IF_ERROR(tally->Add(bytes));
    tally_ = tally;
    bytes_ += bytes;
    return {};
  }
  /// Takes over the bytes of another hold, and charges them to `tally`. Fails like Add.
  Status Take(MemoryHold* other, MemoryTally* tally) {
    const int64_t bytes = other->bytes_;
    { const MemoryHold given_back = std::move(*other); }
    return Add(tally, bytes);
  }

 private:
  MemoryTally* tally_ = nullptr;
  int64_t bytes_ = 0;
};

/// The result of an expression. Only the member for the result's type is set. Movable.
struct Value {
  ValueType type = ValueType::kScalar;
  Column scalar;                     // for kScalar
  std::string text;                  // for kString
  std::vector<VectorSeries> vector;  // for kVector; a series may have no sample at any step
  std::vector<RangeSeries> matrix;   // for kMatrix
  MemoryHold memory;
};

/// Assigns numbers to sets of labels, from 0, in the order in which the sets appear. Charges its
/// memory to a MemoryTally. Not thread-safe.
class SeriesNumbers {
 public:
  /// `tally` must outlive the object.
  explicit SeriesNumbers(MemoryTally* tally) : tally_(tally) {}

  /// The number of a set of labels. `fresh` is true if the set has just got this number.
  struct Place {
    size_t number = 0;
    bool fresh = false;
  };
  /// Returns the number of a set of labels, or assigns one. Fails with errors of `tally`.
  Result<Place> Of(const Labels& labels);
  [[nodiscard]] size_t size() const { return numbers_.size(); }

 private:
  MemoryTally* const tally_;
  MemoryHold memory_;
  std::unordered_map<std::string, size_t> numbers_;  // by Labels::Key
};

/// Builds a vector, one series after the other. Merges series with equal labels. Not thread-safe.
class VectorBuilder {
 public:
  /// `tally` must outlive the builder and its result.
  VectorBuilder(const Steps& steps, MemoryTally* tally)
      : steps_(steps), tally_(tally), numbers_(tally) {
    value_.type = ValueType::kVector;
  }

  /// Returns the index of the series with these labels. If there is no such series, creates one
  /// without samples.
  Result<size_t> SeriesOf(Labels labels);
  [[nodiscard]] Column& column(size_t series) { return value_.vector[series].values; }
  /// Adds a whole series. InvalidArgument: a series with equal labels has a sample at the same
  /// step.
  Status Add(VectorSeries series);

  Value Take() { return std::move(value_); }

 private:
  const Steps steps_;
  MemoryTally* const tally_;
  Value value_;
  SeriesNumbers numbers_;
};

/// Charges the memory of a series with a column of `count` numbers to `hold`.
Status HoldSeries(const Labels& labels, size_t count, MemoryTally* tally, MemoryHold* hold);

/// Calls `at` for each step from 0 on. Reports the work after some steps, because some functions
/// take a microsecond per number.
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

/// Makes a scalar from the results of `at` for each step.
template <typename At>
Result<Value> MakeScalar(size_t count, MemoryTally* tally, At at) {
  Value out;
  RETURN_IF_ERROR(out.memory.Add(tally, static_cast<int64_t>(count * sizeof(double))));
  out.scalar.resize(count);
  RETURN_IF_ERROR(ForEachStep(count, tally, [&](size_t i) { out.scalar[i] = at(i); }));
  return out;
}

/// Removes the metric names of a vector and merges series that become equal. InvalidArgument: two
/// such series have samples at the same step.
Status DropNames(const Steps& steps, MemoryTally* tally, Value* vector);

/// Returns InvalidArgument if two series with samples have equal labels. Also fails with errors of
/// `tally`.
Status RefuseEqualSeries(const Value& vector, MemoryTally* tally);

}  // namespace hg::query::promql
