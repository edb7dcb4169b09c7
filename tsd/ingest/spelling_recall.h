#pragma once
// Learns raw series keys after a start. For all series with plain names it builds the keys by the
// tag formats of the clients. The first point of each series then needs no look-up of names.

#include <atomic>
#include <span>

#include "storage/points/points.h"
#include "tsd/ingest/spelling_table.h"
#include "tsd/ingest/tag_shapes.h"
#include "uid/names.h"

namespace hg::tsd {

class MetricLimits;

struct SpellingRecall {
  Points& points;  // nothing is done if it does not list series by number
  uid::Names& names;
  SpellingTable& spellings;
  MetricLimits* limits;    // may be null
  size_t tags_max;         // maximum number of tags of a series
  size_t bytes_max;        // maximum size of the SpellingTable; the oldest series are left out
  size_t names_bytes_max;  // memory for names during the run; series with other names are left out

  /// Returns false if there was not enough memory for all. Ends early when `stop` becomes true or
  /// names change. Writers may run concurrently. Blocks.
  Result<bool> Run(const std::vector<TagShape>& shapes, const std::atomic<bool>& stop);
};

}  // namespace hg::tsd
