#pragma once
// Learns raw series keys after a start. For all series with plain names, it computes the keys from
// the names and the tag formats of the clients. Therefore, the first point of a series after the
// start usually needs no look-up of names.

#include <atomic>
#include <span>

#include "storage/points/points.h"
#include "tsd/ingest/raw_key_table.h"
#include "tsd/ingest/tag_formats.h"
#include "uid/names.h"

namespace hg::tsd {

class MetricLimits;

struct RawKeyRecall {
  Points& points;  // if it does not list series by number, Run does nothing
  uid::Names& names;
  RawKeyTable& raw_keys;
  MetricLimits* limits;  // may be null
  size_t tags_max;       // maximum number of tags of a series
  // Maximum size of the RawKeyTable. Series that do not fit are left out, the oldest ones first.
  size_t bytes_max;
  // Maximum memory for names during the run. When it is exhausted, all series with further names
  // are left out.
  size_t names_bytes_max;

  /// Adds the keys of all series to the table. Returns false if memory did not suffice for all
  /// keys. Ends early when `stop` becomes true or when names change. Writers may run concurrently.
  /// Blocks.
  Result<bool> Run(const std::vector<TagFormat>& formats, const std::atomic<bool>& stop);
};

}  // namespace hg::tsd
