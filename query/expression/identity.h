#pragma once
// The identity of a series in an expression: the UIDs and names of its tags, of its aggregated tag
// keys and of its metrics. Expressions join the series whose identities give equal keys
// (opentsdb-queries.md §11.2).

#include <cstdint>
#include <span>
#include <vector>

#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/shared_vector.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// The identity of one series. All its lists are in ascending order of UIDs, without repeats.
/// Copies and joined series share their lists where possible, because names may be long.
struct SeriesIdentity {
  struct Name {
    Bytes uid, name;

    bool operator==(const Name&) const = default;
  };
  struct Tag {
    Name key, value;
  };
  SharedVector<Tag> tags;         // tags that have the same value in all members of the group
  SharedVector<Name> aggregated;  // tag keys that have several values in the group
  SharedVector<Name> metrics;
};

/// Creates identities for the groups that Engine::Run returned. The UIDs come from Group::tsuids.
/// The names come from the group itself.
class Identifier {
 public:
  /// The memory of the identities stays charged to `context`, which may be nullptr. Identify
  /// returns the errors of `context`.
  Identifier(const KeyLayout& layout, RequestContext* context)
      : layout_(layout), context_(context) {}

  Result<SeriesIdentity> Identify(const Group& group);

 private:
  const KeyLayout& layout_;
  RequestContext* const context_;
  // The metrics of the previous group, because the next group can usually share this list.
  SharedVector<SeriesIdentity::Name> metrics_;
};

/// Computes the identities of joined series.
class Uniter {
 public:
  /// The memory of the identities stays charged to `context`, which may be nullptr. Unite returns
  /// the errors of `context`.
  explicit Uniter(RequestContext* context) : context_(context) {}

  /// Returns the identity of a joined series. `parts` has one element for each variable of the
  /// expression, in the order of the variables. An element is null if the variable has no member in
  /// the joined series. The joined identity has the tags of the first part, or no tags if the first
  /// part is null (opentsdb-queries.md, quirk Q17). Its other lists contain the elements of all
  /// parts.
  Result<SeriesIdentity> Unite(std::span<const SeriesIdentity* const> parts);

 private:
  using Names = SharedVector<SeriesIdentity::Name>;
  Result<Names> United(std::span<const SeriesIdentity* const> parts, Names SeriesIdentity::*names);

  RequestContext* const context_;
  // Addresses of the metric lists that were combined for the previous series. If the next series
  // has the same lists, both series can share one combined list.
  std::vector<const void*> metrics_of_;
  Names metrics_;
};

struct JoinRule {
  bool intersection = false;  // true = intersection, false = union
  bool use_query_tags = false;
  bool include_aggregated = true;
};

/// All series of one variable of an expression. Join combines them with the series of other
/// variables.
struct JoinSide {
  std::vector<const SeriesIdentity*> series;
  std::vector<Bytes> filter_keys;  // UIDs of the tag keys that have filters, ascending
};

/// One joined series. For each JoinSide, it has the index of the member in JoinSide::series, or
/// kLacking if the side has no member in the joined series.
using JoinedSeries = std::vector<size_t>;
inline constexpr size_t kLacking = SIZE_MAX;

/// Joins the series of all sides whose identities give equal keys. Returns the joined series in
/// ascending order of the key. If several series of one side have equal keys, only the last of them
/// is used. The memory of the result stays charged to `memory`. InvalidArgument: an intersection is
/// empty. LimitExceeded: there are more than kJoinedSeriesMax joined series. Also returns the
/// errors of `memory`.
Result<std::vector<JoinedSeries>> Join(const JoinRule& rule, std::span<const JoinSide> sides,
                                       MemoryTally* memory);

}  // namespace hg::query
