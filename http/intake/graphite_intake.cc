#include "http/intake/graphite_intake.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "storage/model/instant.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

/// Maximum memory of points that wait to be stored. The limit is needed because the points of a
/// frame with one long path copy that path, and because one batch of a frame is stored in one turn
/// of the event loop. The short lines of one read should fit into one batch. kPointBytes: memory
/// per point in addition to its names.
constexpr size_t kBatchBytesMax = size_t{384} << 10;
constexpr size_t kPointBytes = 128;
constexpr auto kRefusedPause = std::chrono::milliseconds(20);
constexpr int64_t kWarningIntervalMs = 10'000;

bool OfOneMetric(const std::vector<NamedPoint>& points) {
  return std::all_of(points.begin(), points.end(), [&points](const NamedPoint& point) {
    return point.metric == points.front().metric;
  });
}

}  // namespace

Timestamp GraphiteIntake::Now() const {
  return TimestampOfMillis(services_.clock.NowMs()).value_or(Timestamp{1});
}

bool GraphiteIntake::Add(const GraphitePoint& point, Writer* writer) {
  batch_.push_back({RawKeyOfGraphitePath(point.path), point.time, point.value});
  batch_bytes_ += kPointBytes + point.path.size();
  if (batch_bytes_ <= kBatchBytesMax) return false;
  Flush(writer);
  return true;
}

bool GraphiteIntake::AddCopy(const GraphitePoint& point, Writer* writer) {
  GraphitePoint copy = point;
  copy.path = paths_.emplace_back(point.path);
  return Add(copy, writer);
}

void GraphiteIntake::Refuse(const Status& why) {
  CountFailure(Failure::kInvalid, 1, &services_.counters);
  Tell(why.message());
}

void GraphiteIntake::TurnAway(std::string_view why) {
  services_.counters.connections_rejected.fetch_add(1, std::memory_order_relaxed);
  Tell(why);
}

void GraphiteIntake::Tell(std::string_view why) {
  ++untold_;
  const int64_t now_ms = MonotonicMs();
  if (!services_.warn || (told_ms_ != 0 && now_ms - told_ms_ < kWarningIntervalMs)) return;
  std::string text = "graphite: " + std::string(why);
  ReplaceInvalidUtf8(&text);
  if (untold_ > 1) text += " (and " + std::to_string(untold_ - 1) + " more before)";
  services_.warn(text);
  told_ms_ = std::max<int64_t>(1, now_ms);
  untold_ = 0;
}

void GraphiteIntake::Flush(Writer* writer) {
  if (batch_.empty()) return;
  WriteContext context(until_overdue_, writer, WriteContext::Checks::kMetricsEachBatch);
  Intake intake(services_.sink, services_.counters, context);
  Status refused;
  if (intake.StoreKnown(batch_, &refused) && refused.ok()) {
    services_.counters.rpc_graphite.fetch_add(batch_.size(), std::memory_order_relaxed);
  } else {
    NamePoints();
    Store(named_.points(), context, intake, refused);
  }
  if (const Status committed = intake.Commit(); !committed.ok()) Tell(committed.message());
  Drop();
}

void GraphiteIntake::Drop() {
  batch_.clear();
  named_.Clear();
  paths_.clear();
  batch_bytes_ = 0;
}

void GraphiteIntake::NamePoints() {
  GraphiteSeries series;
  for (const KeyedPoint& point : batch_) {
    if (const Status read = ReadGraphitePath(GraphitePath(point.series), &series); !read.ok()) {
      Refuse(read);
      continue;
    }
    services_.counters.rpc_graphite.fetch_add(1, std::memory_order_relaxed);
    Status added = named_.SetTags(series.tags);
    if (added.ok()) added = named_.Add(series.metric, point.time, point.value, point.series);
    if (!added.ok()) Refuse(added);
  }
}

void GraphiteIntake::Store(std::vector<NamedPoint> left, const WriteContext& context,
                           Intake& intake, const Status& refused) {
  std::vector<Status> results;
  if (!refused.ok()) results.assign(left.size(), refused);
  for (;;) {
    if (results.empty()) intake.StoreNamed(left, &results);
    std::vector<NamedPoint> again, limited;
    const bool may_pass = context.writer_passed() && !OfOneMetric(left);
    for (size_t i = 0; i < results.size(); ++i) {
      if (may_pass && FailureOf(results[i]) == Failure::kRate) {
        limited.push_back(left[i]);
        continue;
      }
      const Failure failure = intake.Judge(results[i]);
      if (failure != Failure::kNone) Tell(results[i].message());
      if (failure == Failure::kBusy) again.push_back(left[i]);
    }
    results.clear();
    StoreByMetric(std::move(limited), context, intake);
    left = std::move(again);
    if (left.empty() || overdue()) break;
    std::this_thread::sleep_for(kRefusedPause);
  }
}

void GraphiteIntake::StoreByMetric(std::vector<NamedPoint> points, const WriteContext& context,
                                   Intake& intake) {
  // The sort must be stable, because of two points with the same timestamp, the one sent later must
  // be stored last.
  std::stable_sort(points.begin(), points.end(),
                   [](const NamedPoint& a, const NamedPoint& b) { return a.metric < b.metric; });
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(), [&begin](const NamedPoint& point) {
      return point.metric != begin->metric;
    });
    Store({begin, end}, context, intake);
    begin = end;
  }
}

}  // namespace hg::http
