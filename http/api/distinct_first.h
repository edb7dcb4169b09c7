#pragma once
// Selects the series that a lookup with a limit returns, so that the result has as many different
// tags as possible. Grafana fills its lists of tag keys and values from the first thousand series
// of a lookup. In TSUID order, all of these may belong to one host.

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::http {

/// Use on one thread at a time. Referenced objects must outlive this object.
class DistinctFirst {
 public:
  /// `limit` is at least 1. The matcher's clauses must be sorted by key. With clauses, a series is
  /// new if it has a value of one of their keys that no earlier series had. Without clauses, a
  /// series is new if it has a tag key that no earlier series had. Memory is charged to `memory`.
  DistinctFirst(const KeyLayout& layout, const SeriesMatcher& matcher, size_t limit,
                MemoryTally* memory);

  /// Takes the next series, in TSUID order. Returns false if no later series can change the
  /// result.
  Result<bool> Offer(ByteView tsuid);

  /// Returns at most `limit` series: first those with new tags, then others, each group in TSUID
  /// order.
  std::vector<Bytes> Chosen() &&;

 private:
  Result<bool> IsNew(ByteView tsuid);

  const KeyLayout& layout_;
  const SeriesMatcher& matcher_;
  const size_t limit_;
  MemoryTally* const memory_;
  std::unordered_set<Bytes> seen_;  // ids of tag keys, or of tag keys and their values
  std::vector<Bytes> new_, others_;
};

}  // namespace hg::http
