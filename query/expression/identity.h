#pragma once
// Who a series of an expression is: the tags, aggregated keys and metrics of a group, by UID, and
// the keys by which series are joined (spec query.md §11.2). Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "query/answer.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// Parts ascending by UID, each once.
struct SeriesIdentity {
  struct Name {
    Bytes uid, name;
  };
  struct Tag {
    Name key, value;
  };
  std::vector<Tag> tags;         // one value throughout
  std::vector<Name> aggregated;  // tag keys with several values
  std::vector<Name> metrics;
};

/// Of a group as Engine::Run gave it: UIDs from its TSUIDs, names as it has them.
SeriesIdentity Identify(const KeyLayout& layout, const Group& group);

/// Of a joined series: `parts` by variable, in their order, null where the series is lacking. Tags
/// are those of the first part, none if it lacks (quirk Q17); the rest is united.
SeriesIdentity Unite(std::span<const SeriesIdentity* const> parts);

struct JoinRule {
  bool intersection = false;  // else union
  bool use_query_tags = false;
  bool include_aggregated = true;
};

/// One variable's series.
struct JoinSide {
  std::vector<const SeriesIdentity*> series;
  std::vector<Bytes> filter_keys;  // UIDs of the filtered tag keys, ascending
};

/// One series of the result: its member on each side, kLacking where there is none.
using JoinedSeries = std::vector<size_t>;
inline constexpr size_t kLacking = SIZE_MAX;

/// Ascending by key. Of series of one side with equal keys the last one counts. InvalidArgument: an
/// intersection is empty. LimitExceeded: more than kJoinedSeriesMax.
Result<std::vector<JoinedSeries>> Join(const JoinRule& rule, std::span<const JoinSide> sides);

}  // namespace hg::query
