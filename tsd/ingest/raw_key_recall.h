#pragma once
// Learns raw series keys after a start. For all series with plain names, it computes the keys from
// the names and the tag formats of the clients. The first point of each series after the start then
// needs no look-up of names.

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
  // Maximum size of the RawKeyTable; series beyond it are left out, beginning with the oldest.
  size_t bytes_max;
  // Maximum memory for names during the run; if it is exhausted, series with further names are left
  // out.
  size_t names_bytes_max;

  /// Adds the keys of all series to the table. Returns false if memory did not suffice for all of
  /// them. Ends early when `stop` becomes true or names change. Writers may run concurrently.
  /// Blocks.
  Result<bool> Run(const std::vector<TagFormat>& formats, const std::atomic<bool>& stop);
};

}  // namespace hg::tsd
