// Uses ExtremeFold for a sub-query: the maximum of maxima, or the minimum of minima, is computed
// without reading all series completely.

#include <algorithm>

#include "query/sub_query_run.h"

namespace hg::query {
namespace {

// Maximum number of buckets. Dashboards do not request more, and more would take much memory if
// there are few series.
constexpr int64_t kFoldedBucketsMax = 1 << 20;
// If more than one in kReadShare rows had to be read, the next query of this shape is faster with
// cached hours.
constexpr uint64_t kReadShare = 4;
// Maximum number of buckets per row. Creating more of them would cost more than reading all rows.
constexpr uint64_t kBucketsPerRowMax = 64;
constexpr int64_t kDayMs = 24 * int64_t{kRowSpan} * 1000;
// Buckets that can be created, and visited at the end, in the time of a step.
constexpr uint64_t kBucketsPerStep = 8;

}  // namespace

// Returns whether ExtremeFold can compute the result. That requires a single group, and buckets
// that divide an hour, without a fill policy. Times must be in the range in which OpenTSDB does not
// confuse seconds and milliseconds, so that all series are members of the group. Limits must count
// all points, so limited queries do not use ExtremeFold.
bool SubQueryRun::MayFold() const {
  if (!grid_ || !context_.points.ListsFromIndex()) return false;
  constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;
  const DownsampleSpec& spec = grid_->spec();
  const Function function = spec.function->function;
  const bool extremes = (function == Function::kMax || function == Function::kMin) &&
                        sub_.aggregator->function == function;
  const bool in_hours = !spec.run_all && !spec.calendar && spec.fill == FillPolicy::kNone &&
                        spec.interval_ms() > 0 && spec.interval_ms() < kHourMs &&
                        kHourMs % spec.interval_ms() == 0;
  const bool usual_times = window_.begin_ms() > UINT32_MAX && window_.end_s <= UINT32_MAX;
  const bool limited = limits_.bytes_max > 0 || limits_.cells_max > 0;
  return extremes && in_hours && usual_times && !limited && !sub_.text.rate && !sub_.histograms &&
         !sub_.values && filter_->group_by().empty() && !filter_->reads_extra_hour();
}

// Sets both scan_ and fold_, or neither. It may also set scan_ alone: an opened scan that is usable
// without an ExtremeFold.
Status SubQueryRun::OpenFolded() {
  if (!MayFold() || (MayCache() && context_.cache->prefers_hours(Shape()))) return {};
  const int64_t interval_ms = grid_->spec().interval_ms();
  int64_t first_ms = int64_t{spec_.rows.begin} * 1000;
  int64_t last_ms = static_cast<int64_t>(spec_.rows.end) * 1000 - 1;
  if (context_.trim) {
    first_ms = std::max(first_ms, context_.query.start_ms);
    last_ms = std::min(last_ms, context_.query.end_ms);
  }
  const int64_t buckets = last_ms / interval_ms - (first_ms + interval_ms - 1) / interval_ms + 1;
  if (buckets <= 0 || buckets > kFoldedBucketsMax) return {};
  PointScanSpec spec = spec_;
  spec.statistics = true;
  ASSIGN_OR_RETURN(auto scan, context_.points.Scan(spec, context_.options.reconcile));
  // At most the rows of a day are expected per series, however long the range is.
  const int64_t compared = std::min(buckets, kDayMs / interval_ms);
  if (static_cast<uint64_t>(compared) > kBucketsPerRowMax * scan->RowsExpected()) {
    if (!MayCache()) scan_ = std::move(scan);
    return {};
  }
  if (!scan->RepeatsSeries()) {
    if (MayCache()) {
      context_.cache->PreferHours(Shape());
    } else {
      scan_ = std::move(scan);
    }
    return {};
  }
  RETURN_IF_ERROR(context_.watch.Step(static_cast<uint64_t>(buckets) / kBucketsPerStep));
  RETURN_IF_ERROR(joined_memory_.Add(ExtremeFold::BytesOf(buckets)));
  fold_.emplace(grid_->spec().function->function, interval_ms, first_ms, last_ms);
  scan_ = std::move(scan);
  return {};
}

void SubQueryRun::TakeFolded() {
  folded_ = fold_->Runs();
  fold_.reset();  // frees memory now; other sub-queries may take long
  uint64_t rows = 0, spared = 0;
  for (const SeriesSet& set : sets_) {
    rows += set.rows_admitted();
    spared += set.rows_spared();
  }
  if (MayCache() && (rows - spared) * kReadShare > rows) context_.cache->PreferHours(Shape());
}

// Adds the result of ExtremeFold to the columns of the group, which has all series.
void SubQueryRun::AddFolded(std::vector<const PointColumns*>* columns) const {
  if (!folded_) return;
  const PointColumns* const first = columns->empty() ? nullptr : columns->front();
  std::erase_if(*columns, [](const PointColumns* column) { return column->size() == 0; });
  for (const PointColumns& run : *folded_) columns->push_back(&run);
  if (columns->empty() && first != nullptr) columns->push_back(first);
}

}  // namespace hg::query
