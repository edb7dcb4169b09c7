#pragma once
// The result of a query: groups of series. The points of each group are in columns. Names are in
// UTF-8 (uid/names.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/shared_vector.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"

namespace hg::query {

/// The points of one series or group, in ascending order of time. `time_ms` and `bits` have equal
/// length. `kinds` is empty if all points are integers or if all points are doubles.
struct PointColumns {
  std::vector<int64_t> time_ms;
  std::vector<uint64_t> bits;  // for each point, an int64 or the bits of a double
  /// For each point: 1 = double, 0 = integer. Filled only if integers and doubles are mixed.
  std::vector<uint8_t> kinds;
  bool all_double = false;  // whether all values are doubles; used only if `kinds` is empty

  [[nodiscard]] size_t size() const { return time_ms.size(); }
  [[nodiscard]] bool double_at(size_t i) const {
    return kinds.empty() ? all_double : kinds[i] != 0;
  }
};

/// The value of Group::query_index for a group that expressions computed from several sub-queries
/// (query/expression/gexp_run.h).
inline constexpr size_t kComputedGroup = SIZE_MAX;

/// One group of series. Each group becomes one output object of the response.
struct Group {
  size_t query_index = 0;  // index of the sub-query in the request, or kComputedGroup
  Bytes id;                // identifies the group; groups of a sub-query are sorted by id
  Bytes metric;            // metric name; empty for a group that has only annotations
  // The lists of the group's tags and TSUIDs. Several groups can be outputs of one group of
  // histograms; these groups share the lists.
  SharedVector<std::pair<Bytes, Bytes>> tags;  // tags in the order of the UIDs of their keys
  SharedVector<Bytes> aggregate_tags;          // aggregated tag keys in the order of their UIDs
  SharedVector<Bytes> tsuids;                  // sorted TSUIDs in binary form
  // The annotations of the group, sorted by start time. They may be inside or outside the time
  // range of the query. The response leaves them out if the request has no_annotations.
  SharedVector<codec::Annotation> annotations;
  PointColumns points;
  /// Time in nanoseconds that the aggregation of the group and the look-up of its names took.
  int64_t aggregate_ns = 0, names_ns = 0;
};

/// Statistics of a sub-query. The response shows them if the request has showStats or showSummary.
/// In names of members, "before" and "after" mean before and after filtering. Times that are
/// measured for each group are sums over all groups.
struct SubQueryStats {
  uint64_t rows_before = 0, rows_after = 0;
  uint64_t points_before = 0, points_after = 0;
  uint64_t emitted_points = 0;
  uint64_t names_resolved = 0;  // number of tag values whose names the filters looked up
  int64_t scan_ns = 0;          // time for reading storage and for filtering, in nanoseconds
  int64_t filter_ns = 0;  // time for looking up names for filters before the scan, in nanoseconds
  int64_t group_ns = 0;
  int64_t aggregate_ns = 0;
  int64_t names_ns = 0;  // time for looking up the names of all groups, in nanoseconds
  int64_t print_ns = 0;  // time for printing the response, in nanoseconds
  std::string scan;      // description of the scanned rows as readable text
};

/// Statistics of a whole query and of its sub-queries.
struct QueryStats {
  std::vector<SubQueryStats> queries;
  /// Time from the start of the query until the server printed the first byte of the response.
  int64_t before_print_ns = 0;
};

/// What the query does if the rows of a sub-query were read but its groups cannot be computed.
enum class OnFailure : unsigned char {
  kFail,  // the whole request fails
  // The failed sub-query returns no groups, and SubQueryInfo::failure contains the error.
  // Expressions use this option, because they may not need the failed sub-query.
  kLeaveNothing,
  // The failed sub-query returns the groups before the group that failed, and the points of the
  // failed group before its first infinite point. SubQueryInfo::failure contains the error. The
  // command line uses this option, because it prints results during the evaluation.
  kLeaveWhatPrecedes
};

/// The value of SubQueryInfo::rollup_table for a sub-query that read raw points.
inline constexpr std::string_view kRawTable = "raw";

/// Data about one sub-query that the response shows in addition to the groups of the sub-query.
struct SubQueryInfo {
  Status failure;  // the error of the sub-query if OnFailure allows the query to continue
  // The UIDs of the tag keys that have filters, in ascending order, without repeats.
  std::vector<Bytes> filter_keys;
  /// The rollup interval that was read, for example "1h". "raw": the sub-query read raw points.
  std::string rollup_table{kRawTable};
  SubQueryStats stats;
};

struct Answer {
  std::vector<Group> groups;  // groups in output order (opentsdb-queries.md §9.3)
  std::vector<codec::Annotation> global_annotations;  // global annotations in the order of storage
  std::vector<SubQueryInfo> queries;                  // one element per sub-query
};

}  // namespace hg::query
