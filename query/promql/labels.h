#pragma once
// The labels of a series in PromQL. The label "__name__" contains the metric name.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::query::promql {

inline constexpr std::string_view kNameLabel = "__name__";
inline constexpr std::string_view kTypeLabel = "__type__", kUnitLabel = "__unit__";
inline constexpr std::string_view kBucketLabel = "le";
/// The maximum length in bytes of a label value that an expression creates. Without this limit,
/// each function call in an expression could make the value many times longer.
inline constexpr size_t kLabelValueBytesMax = 64 * 1024;

/// A set of labels, sorted by name. Each name occurs only once. Labels with empty values are not
/// stored, because an empty value means that the label is absent.
class Labels {
 public:
  using Pair = std::pair<std::string, std::string>;

  Labels() = default;
  /// `pairs` may be in any order. If a name occurs several times, the last value is used.
  explicit Labels(std::vector<Pair> pairs);

  /// Returns the value of a label, or "" if the label is absent.
  [[nodiscard]] std::string_view Get(std::string_view name) const;
  /// Sets the value of a label. An empty value removes the label.
  void Set(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  /// Removes the metric name. Also removes the labels "__type__" and "__unit__", as Prometheus
  /// does.
  void RemoveName();
  /// Keep removes all labels except those in `names`; Drop removes the labels in `names`. `names`
  /// must be sorted.
  void Keep(std::span<const std::string> names);
  void Drop(std::span<const std::string> names);

  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  /// Returns the approximate memory of the labels in bytes.
  [[nodiscard]] size_t bytes() const;
  /// Returns the cost of copying or comparing the labels once, in steps of a RequestContext.
  [[nodiscard]] uint64_t steps() const;
  /// Returns a string that is equal for two sets of labels if and only if the sets are equal. It
  /// can be used as a key of a hash table.
  [[nodiscard]] std::string Key() const;
  /// Returns the labels as a text for messages, such as {__name__="up", job="a"}.
  [[nodiscard]] std::string Text() const;

  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Pair> pairs_;
};

/// Returns the text as a quoted PromQL string. Characters outside ASCII are not escaped.
std::string Quoted(std::string_view text);

}  // namespace hg::query::promql
