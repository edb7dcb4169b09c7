#pragma once
// Selects the series that a lookup with a limit returns, so that the result has as many different
// tags as possible. Grafana fills its lists of tag keys and values from the first thousand series
// of a lookup. The first thousand series in TSUID order might all belong to one host.

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg::http {

/// Selects series for one lookup. Only one thread at a time may use the object. The arguments of
/// the constructor must outlive the object.
class DistinctFirst {
 public:
  /// `limit` must be at least 1. The clauses of the matcher must be sorted by key. The memory is
  /// charged to `memory`.
  ///
  /// If the matcher has no clauses, a series counts as new if it has a tag key that no earlier
  /// series had. If the matcher has clauses, a series counts as new if, for a tag key of a clause,
  /// it has a tag value that no earlier series had for this tag key.
  DistinctFirst(const KeyLayout& layout, const SeriesMatcher& matcher, size_t limit,
                MemoryTally* memory);

  /// Passes the next series to the selection. Series must come in TSUID order. Returns false if no
  /// later series can change the result.
  Result<bool> Offer(ByteView tsuid);

  /// Returns at most `limit` series. Series that count as new come first, then the others; both
  /// groups are in TSUID order.
  std::vector<Bytes> Chosen() &&;

 private:
  Result<bool> IsNew(ByteView tsuid);

  const KeyLayout& layout_;
  const SeriesMatcher& matcher_;
  const size_t limit_;
  MemoryTally* const memory_;
  /// The tags that earlier series had. An element is the id of a tag key; if the matcher has
  /// clauses, it is the id of a tag key, followed by the id of a tag value.
  std::unordered_set<Bytes> seen_;
  std::vector<Bytes> new_, others_;
};

}  // namespace hg::http
