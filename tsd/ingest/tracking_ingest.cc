#include "tsd/ingest/tracking_ingest.h"

#include <algorithm>

#include "storage/codec/row_key.h"

namespace hg::tsd {
namespace {

constexpr size_t kTrackedTogether = 64;

}  // namespace

Result<PointSink::Appended> TrackingIngest::AppendKeyed(std::span<const KeyedPoint> /*points*/,
                                                        WriteContext& /*context*/) {
  return Appended{.known = false, .position = 0};
}

Status TrackingIngest::Track(const NamedPoint& point, RequestContext& context) {
  ASSIGN_OR_RETURN(const Bytes metric, names_.Find(UidKind::kMetric, point.metric));
  std::vector<Bytes> pairs;
  for (const TagText& tag : point.tags) {
    ASSIGN_OR_RETURN(const Bytes key, names_.Find(UidKind::kTagk, tag.key));
    ASSIGN_OR_RETURN(const Bytes value, names_.Find(UidKind::kTagv, tag.value));
    pairs.push_back(key + value);
  }
  return tracker_.Note(codec::MakeTsuid(metric, std::move(pairs)), context);
}

// Appends in small batches. If the request is cancelled, the points of the batches before are
// stored and tracked.
PointSink::Position TrackingIngest::AppendNamed(std::span<const NamedPoint> points,
                                                WriteContext& context,
                                                std::vector<Status>* results) {
  results->clear();
  Position position = 0;
  std::vector<Status> verdicts;
  for (; !points.empty(); points = points.subspan(verdicts.size())) {
    const auto batch = points.first(std::min(points.size(), kTrackedTogether));
    position = std::max(position, ingest_.AppendNamed(batch, context, &verdicts));
    TrackStored(batch, verdicts, context.request());
    results->insert(results->end(), verdicts.begin(), verdicts.end());
  }
  const Result<Position> all = points_.Append({});
  if (all.ok()) return std::max(position, *all);
  // It is unknown whether the tracker's writes will become durable, so the client must send the
  // points again.
  for (Status& result : *results) {
    if (result.ok()) result = all.status();
  }
  return position;
}

// Reports stored points to the tracker. If a write of the tracker fails, the point is still stored.
void TrackingIngest::TrackStored(std::span<const NamedPoint> points,
                                 std::span<const Status> verdicts, RequestContext& context) {
  for (size_t i = 0; i < points.size(); ++i) {
    if (!verdicts[i].ok() || Track(points[i], context).ok()) continue;
    failures_.fetch_add(1, std::memory_order_relaxed);
  }
}

void TrackingIngest::Commit(Position position, std::function<void(Status)> done) {
  ingest_.Commit(position, std::move(done));
}

void TrackingIngest::ForgetRawKeys() { ingest_.ForgetRawKeys(); }

}  // namespace hg::tsd
