#include "query/request/request_hash.h"

#include <bit>
#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/keyed_hash.h"
#include "storage/base/shared_vector.h"

namespace hg::query {
namespace {

// Writes the members of a query as one text. Different queries have different texts, because each
// text and each list begins with its length. The whole text is hashed at once: clients could find
// queries with equal hashes if the hashes of the members were only added or multiplied.
//
// Each structured binding below lists all members of its type, so a new member does not compile
// until it is added here.
class Members {
 public:
  void Add(const Request& request) {
    const auto& [start, end, timezone, queries, ms_resolution, show_tsuids, show_query, show_stats,
                 show_summary, no_annotations, global_annotations, padding, delete_rows,
                 use_calendar, override_byte_limit, override_cell_limit] = request;
    AddEach(start, end, timezone, queries, ms_resolution, show_tsuids, show_query, show_stats,
            show_summary, no_annotations, global_annotations, padding, delete_rows, use_calendar,
            override_byte_limit, override_cell_limit);
  }

  [[nodiscard]] const Bytes& text() const { return text_; }

 private:
  template <typename... Values>
  void AddEach(const Values&... values) {
    (Add(values), ...);
  }

  void Add(const SubQuery& query) {
    const auto& [aggregator, metric, tsuids, downsample, rate, rate_options, filters, filters_given,
                 explicit_tags, pre_aggregate, rollup_usage, percentiles, show_histogram_buckets,
                 value_filter, use_fuzzy_filter, use_multi_gets] = query;
    AddEach(aggregator, metric, tsuids, downsample, rate, rate_options, filters, filters_given,
            explicit_tags, pre_aggregate, rollup_usage, percentiles, show_histogram_buckets,
            value_filter, use_fuzzy_filter, use_multi_gets);
  }
  void Add(const FilterSpec& spec) {
    const auto& [type, tagk, filter, group_by, ignore_case] = spec;
    AddEach(type, tagk, filter, group_by, ignore_case);
  }
  void Add(const RateOptions& options) {
    const auto& [counter, counter_max, reset_value, drop_resets] = options;
    AddEach(counter, counter_max, reset_value, drop_resets);
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value) Add(*value);
  }
  template <typename T>
  void Add(const SharedVector<T>& list) {
    Add(list.get());
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(list.size());
    for (const T& element : list) Add(element);
  }
  void Add(std::string_view text) {
    Add(text.size());
    text_.append(text);
  }
  // 0.0 and -0.0 are equal, but have different bits.
  void Add(double number) { Add(std::bit_cast<uint64_t>(number == 0 ? 0.0 : number)); }
  void Add(std::integral auto number) { AppendBig(&text_, static_cast<uint64_t>(number), 8); }

  Bytes text_;
};

}  // namespace

uint64_t HashOf(const Request& request) {
  Members members;
  members.Add(request);
  return keyed_hash::Hash()(members.text());
}

}  // namespace hg::query
