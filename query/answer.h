#pragma once
// What a query found: groups with their points in columns. Names are UTF-8 (uid/names.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"

namespace hg::query {

/// Points of one series or group, ascending. Columns of equal length; kinds is empty when all
/// points are alike.
struct PointColumns {
  std::vector<int64_t> time_ms;
  std::vector<uint64_t> bits;  // int64, or the bits of a double
  std::vector<uint8_t> kinds;  // 1 = double; only when ints and doubles mix
  bool all_double = false;     // meaningful when kinds is empty

  [[nodiscard]] size_t size() const { return time_ms.size(); }
  [[nodiscard]] bool double_at(size_t i) const {
    return kinds.empty() ? all_double : kinds[i] != 0;
  }
};

/// Group::query_index of a group that was computed from several (query/expression/gexp_run.h).
inline constexpr size_t kComputedGroup = SIZE_MAX;

/// One output object.
struct Group {
  size_t query_index = 0;                      // into the request's sub-queries
  Bytes id;                                    // groups of a sub-query ascend by it
  Bytes metric;                                // "" for a group made of annotations only
  std::vector<std::pair<Bytes, Bytes>> tags;   // tag-key UID order
  std::vector<Bytes> aggregate_tags;           // tag-key UID order
  std::vector<Bytes> tsuids;                   // bytes, sorted
  std::vector<codec::Annotation> annotations;  // by start, whatever the range; empty if not wanted
  PointColumns points;
  int64_t aggregate_ns = 0, names_ns = 0;  // what it cost
};

/// Measured while running; printed with showStats and showSummary. "Before" and "after": the
/// filter. Times of groups are those of all of them.
struct SubQueryStats {
  uint64_t rows_before = 0, rows_after = 0;
  uint64_t points_before = 0, points_after = 0;
  uint64_t emitted_points = 0;
  uint64_t names_resolved = 0;  // of tag values, to filter
  int64_t scan_ns = 0;          // storage and filter
  int64_t filter_ns = 0;        // of that, names for the filter
  int64_t group_ns = 0;
  int64_t aggregate_ns = 0;
  int64_t names_ns = 0;  // names of the groups
  int64_t print_ns = 0;  // filled while the answer is printed
  std::string scan;      // which rows were read, for people
};

/// Of a whole query.
struct QueryStats {
  std::vector<SubQueryStats> queries;
  int64_t before_print_ns = 0;  // until the first byte was printed
};

/// What becomes of a sub-query that was read but cannot be evaluated.
enum class OnFailure : unsigned char {
  kFail,              // the request fails
  kLeaveNothing,      // no groups, and the failure in its info (expressions, which may not need it)
  kLeaveWhatPrecedes  // the groups before the failing one, of that the points before an infinite
                      // one, and the failure in its info (the command line, which prints as it
                      // goes)
};

/// SubQueryInfo::rollup_table of what was not read from rollups.
inline constexpr std::string_view kRawTable = "raw";

/// One sub-query's part beside its groups.
struct SubQueryInfo {
  Status failure;                       // of its evaluation; see OnFailure
  std::vector<Bytes> filter_keys;       // UIDs of the filtered tag keys, ascending, each once
  std::string rollup_table{kRawTable};  // the interval that was read, such as "1h"
  SubQueryStats stats;
};

struct Answer {
  std::vector<Group> groups;                          // in output order (spec query.md §9.3)
  std::vector<codec::Annotation> global_annotations;  // in storage order
  std::vector<SubQueryInfo> queries;                  // one per sub-query
};

}  // namespace hg::query
