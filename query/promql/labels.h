#pragma once
// What names a series: labels, of which "__name__" is the metric.

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::query::promql {

inline constexpr std::string_view kNameLabel = "__name__";
inline constexpr std::string_view kBucketLabel = "le";
/// Bytes of a value that an expression makes of others: each step may make it many times as long.
inline constexpr size_t kLabelValueBytesMax = 64 * 1024;

/// Names and values, sorted by names, each name once, no value empty: an empty value is the same as
/// none. Value type.
class Labels {
 public:
  using Pair = std::pair<std::string, std::string>;

  Labels() = default;
  /// In any order; of a name that is there twice the last one counts.
  explicit Labels(std::vector<Pair> pairs);

  /// "" = it has no such label.
  [[nodiscard]] std::string_view Get(std::string_view name) const;
  /// An empty value removes it.
  void Set(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  /// Leaves those, or all others. `names` in any order.
  void Keep(std::span<const std::string> names);
  void Drop(std::span<const std::string> names);

  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  /// About what it takes in memory.
  [[nodiscard]] size_t bytes() const;
  /// One text for each set of labels, to find equal ones by.
  [[nodiscard]] std::string Key() const;
  /// For messages: {__name__="up", job="a"}.
  [[nodiscard]] std::string Text() const;

  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Pair> pairs_;
};

/// "label_name", a quoted text in PromQL's form.
std::string Quoted(std::string_view text);

}  // namespace hg::query::promql
