#pragma once
// Restores raw series keys after a start of the process. For each series with plain names, it
// computes the keys from the names and from the tag formats that clients use. Thus the first point
// that a client sends for a series after the start usually needs no look-up of names.

#include <atomic>
#include <span>

#include "storage/points/points.h"
#include "tsd/ingest/raw_key_table.h"
#include "tsd/ingest/tag_formats.h"
#include "uid/names.h"

namespace hg::tsd {

class MetricLimits;

struct RawKeyRecall {
  Points& points;  // the point store; if it does not list series by number, Run does nothing
  uid::Names& names;
  RawKeyTable& raw_keys;
  MetricLimits* limits;  // limits of metrics; may be null
  size_t tags_max;       // maximum number of tags of one series
  // The maximum size of the RawKeyTable in bytes. If not all series fit, the oldest series are left
  // out first.
  size_t bytes_max;
  // The maximum memory for names during Run, in bytes. When it is used up, all series with further
  // names are left out.
  size_t names_bytes_max;

  /// Adds the raw series keys of all series to the table. Returns false if there was not enough
  /// memory for all keys. Ends early when `stop` becomes true or when names change. Writers may run
  /// at the same time. The call may block.
  Result<bool> Run(const std::vector<TagFormat>& formats, const std::atomic<bool>& stop);
};

}  // namespace hg::tsd
