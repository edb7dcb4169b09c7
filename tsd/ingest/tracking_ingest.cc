#include "tsd/ingest/tracking_ingest.h"

#include "storage/codec/row_key.h"

namespace hg::tsd {

Result<PointSink::Appended> TrackingIngest::AppendSpelled(std::span<const SpelledPoint>) {
  return Appended{.known = false, .position = 0};
}

Status TrackingIngest::Track(const NamedPoint& point) {
  ASSIGN_OR_RETURN(const Bytes metric, names_.Find(UidKind::kMetric, point.metric));
  std::vector<Bytes> pairs;
  for (const TagText& tag : point.tags) {
    ASSIGN_OR_RETURN(const Bytes key, names_.Find(UidKind::kTagk, tag.key));
    ASSIGN_OR_RETURN(const Bytes value, names_.Find(UidKind::kTagv, tag.value));
    pairs.push_back(key + value);
  }
  return tracker_.Note(codec::MakeTsuid(metric, std::move(pairs)));
}

PointSink::Position TrackingIngest::AppendNamed(std::span<const NamedPoint> points,
                                                std::vector<Status>* results) {
  const Position position = ingest_.AppendNamed(points, results);
  for (size_t i = 0; i < points.size(); ++i) {
    // The point is stored: what is written about it may fail without failing it.
    if ((*results)[i].ok() && !Track(points[i]).ok())
      failures_.fetch_add(1, std::memory_order_relaxed);
  }
  return position;
}

void TrackingIngest::Commit(Position position, std::function<void(Status)> done) {
  ingest_.Commit(position, std::move(done));
}

void TrackingIngest::ForgetSpellings() { ingest_.ForgetSpellings(); }

}  // namespace hg::tsd
