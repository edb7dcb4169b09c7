#pragma once
// Which series a look-up with a limit shows, if series that tell something new come first. Grafana
// fills its lists of tag keys and values from the first thousand series of a look-up: in TSUID
// order those may all be of one host.

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::http {

/// One thread at a time. References must outlive it.
class DistinctFirst {
 public:
  /// limit: at least 1. With clauses, a series is new by a value of one of their keys that none
  /// before it had; without, by a key.
  DistinctFirst(const KeyLayout& layout, const SeriesMatcher& matcher, size_t limit);

  /// The next series, in TSUID order. False: later ones cannot change the choice any more.
  bool Offer(ByteView tsuid);

  /// At most `limit` series: those that were new, then others; each part in TSUID order.
  std::vector<Bytes> Chosen() &&;

 private:
  bool IsNew(ByteView tsuid);

  const KeyLayout& layout_;
  const SeriesMatcher& matcher_;
  const size_t limit_;
  std::unordered_set<Bytes> seen_;  // ids of keys, or of keys with their values
  std::vector<Bytes> new_, others_;
};

}  // namespace hg::http
