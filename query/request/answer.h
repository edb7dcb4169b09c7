#pragma once
// The result of a query: groups with their points in columns. Names are in UTF-8 (uid/names.h).

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

/// The points of one series or group, in ascending order of time. All columns have equal length.
/// `kinds` is empty if all points are integers or all are doubles.
struct PointColumns {
  std::vector<int64_t> time_ms;
  std::vector<uint64_t> bits;  // an int64, or the bits of a double
  std::vector<uint8_t> kinds;  // 1 = double; filled only if integers and doubles are mixed
  bool all_double = false;     // meaningful only if `kinds` is empty

  [[nodiscard]] size_t size() const { return time_ms.size(); }
  [[nodiscard]] bool double_at(size_t i) const {
    return kinds.empty() ? all_double : kinds[i] != 0;
  }
};

/// The value of Group::query_index for a group that was computed from several sub-queries
/// (query/expression/gexp_run.h).
inline constexpr size_t kComputedGroup = SIZE_MAX;

/// One group of series: one output object of the response.
struct Group {
  size_t query_index = 0;  // index into the request's sub-queries
  Bytes id;  // identifies the group; the groups of a sub-query are in ascending order of their ids
  Bytes metric;  // empty for a group that has annotations only
  // All groups that come from one group of histograms share these lists.
  SharedVector<std::pair<Bytes, Bytes>> tags;  // in the order of tag key UIDs
  SharedVector<Bytes> aggregate_tags;          // in the order of tag key UIDs
  SharedVector<Bytes> tsuids;                  // binary, sorted
  // Annotations inside and outside the range of the query, sorted by start time; empty if the query
  // did not request annotations.
  SharedVector<codec::Annotation> annotations;
  PointColumns points;
  int64_t aggregate_ns = 0, names_ns = 0;  // time spent on this group
};

/// Statistics of a sub-query. showStats and showSummary print them. "before" and "after" mean
/// before and after filtering. Times of groups are sums over all groups.
struct SubQueryStats {
  uint64_t rows_before = 0, rows_after = 0;
  uint64_t points_before = 0, points_after = 0;
  uint64_t emitted_points = 0;
  uint64_t names_resolved = 0;  // tag values whose names the filters looked up
  int64_t scan_ns = 0;          // reading storage and filtering
  int64_t filter_ns = 0;        // the part of scan_ns for looking up names for filters
  int64_t group_ns = 0;
  int64_t aggregate_ns = 0;
  int64_t names_ns = 0;  // time for looking up the names of the groups
  int64_t print_ns = 0;  // time for printing the response
  std::string scan;      // the scanned rows, as readable text
};

/// Statistics of a whole query, in addition to those of its sub-queries.
struct QueryStats {
  std::vector<SubQueryStats> queries;
  int64_t before_print_ns = 0;  // time until the first byte was printed
};

/// What to do if the rows of a sub-query were read but its evaluation failed.
enum class OnFailure : unsigned char {
  kFail,  // the request fails
  // The failed sub-query returns no groups, and SubQueryInfo has the failure. Expressions use this
  // value, because they may not need the failed sub-query.
  kLeaveNothing,
  // The sub-query returns the groups before the failing one, and the failing group with its points
  // before the first infinite one. SubQueryInfo has the failure. The command line uses this value,
  // because it prints while it evaluates.
  kLeaveWhatPrecedes
};

/// The value of SubQueryInfo::rollup_table for a sub-query that read raw points.
inline constexpr std::string_view kRawTable = "raw";

/// The part of the response that describes one sub-query, in addition to its groups.
struct SubQueryInfo {
  Status failure;  // why the evaluation failed; see OnFailure
  // UIDs of the tag keys that have filters, ascending, without repeats
  std::vector<Bytes> filter_keys;
  std::string rollup_table{kRawTable};  // the rollup interval that was read, for example "1h"
  SubQueryStats stats;
};

struct Answer {
  std::vector<Group> groups;                          // in output order (opentsdb-queries.md §9.3)
  std::vector<codec::Annotation> global_annotations;  // in storage order
  std::vector<SubQueryInfo> queries;                  // one entry per sub-query
};

}  // namespace hg::query
