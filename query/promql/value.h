#pragma once
// What evaluating an expression gives: a number or a column of numbers for each step.

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
#include "storage/base/status.h"
#include "storage/base/work_watch.h"

namespace hg::query::promql {

/// One number for each step; Absent() where there is none.
using Column = std::vector<double>;

struct VectorSeries {
  Labels labels;
  Column values;
};

/// Samples as they stand, ascending in time, without stale markers.
struct RangeSeries {
  Labels labels;
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

/// Memory that is charged as long as it lives. Movable.
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

  /// The tally outlives the object, and is the same for all calls. Fails as it does.
  Status Add(MemoryTally* tally, int64_t bytes) {
    RETURN_IF_ERROR(tally->Add(bytes));
    tally_ = tally;
    bytes_ += bytes;
    return {};
  }
  /// Charges to `tally` what another one held until now, maybe of another tally. Fails as Add.
  Status Take(MemoryHold* other, MemoryTally* tally) {
    const int64_t bytes = other->bytes_;
    { const MemoryHold given_back = std::move(*other); }
    return Add(tally, bytes);
  }

 private:
  MemoryTally* tally_ = nullptr;
  int64_t bytes_ = 0;
};

/// Movable. Only what the type says is filled.
struct Value {
  ValueType type = ValueType::kScalar;
  Column scalar;                     // kScalar
  std::string text;                  // kString
  std::vector<VectorSeries> vector;  // kVector; a series may be absent at every step
  std::vector<RangeSeries> matrix;   // kMatrix
  MemoryHold memory;
};

/// A vector, series by series, where series with equal labels become one. One thread at a time.
class VectorBuilder {
 public:
  /// The tally outlives builder and result.
  VectorBuilder(const Steps& steps, MemoryTally* tally) : steps_(steps), tally_(tally) {
    value_.type = ValueType::kVector;
  }

  /// The number of the series of those labels, which is made if there is none; its column is
  /// absent.
  Result<size_t> SeriesOf(Labels labels);
  [[nodiscard]] Column& column(size_t series) { return value_.vector[series].values; }
  /// A series whole. InvalidArgument: one of the same labels has samples at the same steps.
  Status Add(VectorSeries series);

  Value Take() { return std::move(value_); }

 private:
  const Steps steps_;
  MemoryTally* const tally_;
  Value value_;
  std::unordered_map<std::string, size_t> numbers_;  // by Labels::Key
};

/// Room for one more column with its labels.
Status HoldSeries(const Labels& labels, size_t count, MemoryTally* tally, MemoryHold* hold);

/// A scalar of what `at` gives for each step.
template <typename At>
Result<Value> MakeScalar(size_t count, MemoryTally* tally, At at) {
  Value out;
  RETURN_IF_ERROR(out.memory.Add(tally, static_cast<int64_t>(count * sizeof(double))));
  RETURN_IF_ERROR(tally->Step(count));
  out.scalar.resize(count);
  for (size_t i = 0; i < count; ++i) out.scalar[i] = at(i);
  return out;
}

/// Removes names from the series of a vector; those that are equal then become one.
/// InvalidArgument: they have samples at the same step.
Status DropNames(const Steps& steps, MemoryTally* tally, Value* vector);

/// InvalidArgument: two series with samples have the same labels.
Status RefuseEqualSeries(const Value& vector);

}  // namespace hg::query::promql
