#pragma once
// The identity of a series in an expression: the tags, aggregated tag keys and metrics of a group,
// by UID. Keys made from identities decide which series are joined (opentsdb-queries.md §11.2).

#include <cstdint>
#include <span>
#include <vector>

#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/shared_vector.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// All lists of an identity are in ascending order of UIDs, without repeats. Copies and joined
/// series share lists where possible, because names may be long.
struct SeriesIdentity {
  struct Name {
    Bytes uid, name;

    bool operator==(const Name&) const = default;
  };
  struct Tag {
    Name key, value;
  };
  SharedVector<Tag> tags;         // tags whose value is the same in all members of the group
  SharedVector<Name> aggregated;  // tag keys that have several values in the group
  SharedVector<Name> metrics;
};

/// Makes identities of the groups that Engine::Run returned. UIDs come from the TSUIDs of the
/// group, and names come from the group itself.
class Identifier {
 public:
  /// Identities are charged to `context`, where they stay charged. `context` may be nullptr.
  /// Identify fails with errors of `context`.
  Identifier(const KeyLayout& layout, RequestContext* context)
      : layout_(layout), context_(context) {}

  Result<SeriesIdentity> Identify(const Group& group);

 private:
  const KeyLayout& layout_;
  RequestContext* const context_;
  // The metrics of the previous group. The next group can usually share this list of metrics.
  SharedVector<SeriesIdentity::Name> metrics_;
};

/// Makes identities of joined series.
class Uniter {
 public:
  /// Charges identities to `context` in the same way as Identifier.
  explicit Uniter(RequestContext* context) : context_(context) {}

  /// Returns the identity of a joined series. `parts` has one entry for each variable, in the order
  /// of the variables. An entry is null if the variable lacks the series. The result has the tags
  /// of the first part, or no tags if the first part is null (opentsdb-queries.md, quirk Q17). Its
  /// other lists contain the elements of all parts.
  Result<SeriesIdentity> Unite(std::span<const SeriesIdentity* const> parts);

 private:
  using Names = SharedVector<SeriesIdentity::Name>;
  Result<Names> United(std::span<const SeriesIdentity* const> parts, Names SeriesIdentity::*names);

  RequestContext* const context_;
  // Addresses of the metric lists from which the metrics of the previous series were made. If the
  // next series has the same lists, it can share the metrics.
  std::vector<const void*> metrics_of_;
  Names metrics_;
};

struct JoinRule {
  bool intersection = false;  // true = intersection, false = union
  bool use_query_tags = false;
  bool include_aggregated = true;
};

/// All series of one variable, which are joined with those of other variables.
struct JoinSide {
  std::vector<const SeriesIdentity*> series;
  std::vector<Bytes> filter_keys;  // UIDs of the filtered tag keys, ascending
};

/// One joined series: for each side, the index of its member in JoinSide, or kLacking.
using JoinedSeries = std::vector<size_t>;
inline constexpr size_t kLacking = SIZE_MAX;

/// Joins series by key and returns them in ascending order of the key. If several series of a side
/// have equal keys, only the last one is used. The result stays charged to `memory`.
/// InvalidArgument: an intersection is empty. LimitExceeded: more than kJoinedSeriesMax series.
/// Also fails with errors of `memory`.
Result<std::vector<JoinedSeries>> Join(const JoinRule& rule, std::span<const JoinSide> sides,
                                       MemoryTally* memory);

}  // namespace hg::query
