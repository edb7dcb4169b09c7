#include "tsd/ingest/histogram_ingest.h"

#include "storage/codec/histogram.h"
#include "storage/codec/row_key.h"

namespace hg::tsd {

Status HistogramIngest::Put(const NamedHistogram& histogram, WriteContext& context) {
  NamedPoint point;
  point.metric = histogram.metric;
  point.tags = histogram.tags;
  point.time = histogram.time;
  if (!point.time.in_range()) return BadTimestamp(point, histogram.value, 0);
  ASSIGN_OR_RETURN(const Bytes tsuid, ingest_.ResolveTsuid(point, context));
  const int64_t time_s = point.time.seconds();
  const auto base = static_cast<uint32_t>(time_s - time_s % kRowSpan);
  RowMutation row;
  row.key = codec::MakeRowKey(layout_, tsuid, base);
  row.changes.push_back(
      PutCell("t", codec::HistogramQualifier(point.time), Bytes(histogram.value)));
  RETURN_IF_ERROR(store_.Mutate(table_, {row}));
  ingest_.ChargeValue(histogram.metric, tsuid, context);
  // The histogram is already stored, so a failure to track its series is ignored. The record of the
  // series becomes durable with the next commit.
  if (tracker_.enabled()) (void)tracker_.Note(tsuid, context.request());
  return {};
}

}  // namespace hg::tsd
