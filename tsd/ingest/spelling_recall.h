#pragma once
// Spellings after a start: those of all series whose names are plain, as the shapes say that
// senders write them, so that the first point of each need not be learnt by its names.

#include <atomic>
#include <span>

#include "storage/points/points.h"
#include "tsd/ingest/spelling_table.h"
#include "tsd/ingest/tag_shapes.h"
#include "uid/names.h"

namespace hg::tsd {

class MetricLimits;

struct SpellingRecall {
  Points& points;  // others than NumbersSeries have nothing to recall
  uid::Names& names;
  SpellingTable& spellings;
  MetricLimits* limits;    // may be null
  size_t tags_max;         // of a series
  size_t bytes_max;        // all spellings take about so much then: the oldest series are left out
  size_t names_bytes_max;  // while it is at work: series that have one of the others are left out

  /// False: there was no room for all. Ends early where `stop` becomes true, or names change.
  /// Writers may be at work. Blocks.
  Result<bool> Run(const std::vector<TagShape>& shapes, const std::atomic<bool>& stop);
};

}  // namespace hg::tsd
