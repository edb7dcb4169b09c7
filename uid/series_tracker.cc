#include "uid/series_tracker.h"

#include "uid/metadata.h"
#include "uid/metadata_json.h"

namespace hg::uid {
namespace {

const Bytes kSeen("\0\0\0\0\0\0\0\1", 8);

}  // namespace

SeriesTracker::SeriesTracker(Store& store, const Clock& clock, SeriesTrackerOptions options)
    : store_(store), clock_(clock), options_(std::move(options)) {}

Status SeriesTracker::StoreObject(const Bytes& tsuid, RequestContext& context) {
  TsMeta meta;
  meta.tsuid = tsuid;
  meta.created = clock_.NowMs() / 1000;
  RETURN_IF_ERROR(store_.Mutate(options_.meta_table,
                                {{tsuid, {PutCell(kMetaFamily, kTsMeta, EncodeTsMeta(meta))}}}));
  return options_.stored ? options_.stored(tsuid, context) : Status::Ok();
}

Status SeriesTracker::Note(const Bytes& tsuid, RequestContext& context) {
  if (!options_.tracking) return {};
  if (!options_.realtime_ts)
    return store_.Mutate(options_.meta_table, {{tsuid, {PutCell(kMetaFamily, kTsCounter, kSeen)}}});
  if (options_.incrementing) {
    ASSIGN_OR_RETURN(const int64_t count,
                     store_.Increment(options_.meta_table, tsuid, kMetaFamily, kTsCounter, 1));
    if (count != 1) return {};
    return StoreObject(tsuid, context);
  }
  ASSIGN_OR_RETURN(const Row row, store_.Get(options_.meta_table, tsuid, kMetaFamily, {kTsMeta}));
  return row.empty() ? StoreObject(tsuid, context) : Status::Ok();
}

}  // namespace hg::uid
