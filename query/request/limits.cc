#include "query/request/limits.h"

#include <algorithm>
#include <utility>

#include "query/request/side_by_side.h"

namespace hg::query {
namespace {

constexpr const char* kAdvice =
    " Please try filtering using more tags or decrease your time range.";
// Bytes of a cell in addition to its key: qualifier, value, timestamp and family. OpenTSDB uses the
// same estimate.
constexpr int64_t kCellBytes = 2 + 8 + 8 + 1;
// The cost of a row in addition to its points, in steps (a step is about a point).
constexpr uint64_t kRowSteps = 64;
constexpr uint64_t kStatisticsSteps = 16;  // cost of a row that is read by its statistics

}  // namespace

Result<Limits> LimitsFor(const Options& options, LimitsFile* file, std::string_view metric,
                         RequestContext& context, bool lift_bytes, bool lift_cells) {
  Limits out;
  out.bytes_max = options.bytes_max;
  out.cells_max = options.cells_max;
  Result<bool> found = file->Find(metric, context, &out.bytes_max, &out.cells_max);
  if (!found.ok()) return found.status();
  if (lift_bytes && options.bytes_override_allowed) out.bytes_max = 0;
  if (lift_cells && options.cells_override_allowed) out.cells_max = 0;
  out.batch_rows = std::max<size_t>(options.batch_rows, 1);
  return out;
}

Status LimitCounter::Count(const RowHour& row) {
  if (limited() && rows_ % limits_.batch_rows == 0) RETURN_IF_ERROR(Check());
  ++rows_;
  points_ += row.points();
  cells_ += row.stored_cells;
  bytes_ += row.stored_cells * (static_cast<int64_t>(row.key.size()) + kCellBytes);
  steps_ += row.statistics != nullptr ? kStatisticsSteps : kRowSteps + row.value.size();
  return steps_ < kStepsAtOnce ? Status() : watch_.Step(std::exchange(steps_, 0));
}

Status LimitCounter::CountHours(uint64_t rows, uint64_t points) {
  rows_ += rows;
  points_ += points;
  steps_ += rows * kStatisticsSteps;
  return steps_ < kStepsAtOnce ? Status() : watch_.Step(std::exchange(steps_, 0));
}

Status LimitCounter::Check() const {
  if (limits_.bytes_max > 0 && bytes_ > limits_.bytes_max) {
    return Status::LimitExceeded(
        "Sorry, you have attempted to fetch more than our maximum amount of " +
        std::to_string(limits_.bytes_max / 1024 / 1024) + "MB from storage." + kAdvice);
  }
  if (limits_.cells_max > 0 && cells_ >= limits_.cells_max) {
    return Status::LimitExceeded("Sorry, you have attempted to fetch more than our limit of " +
                                 std::to_string(limits_.cells_max) + " data points." + kAdvice);
  }
  return {};
}

}  // namespace hg::query
