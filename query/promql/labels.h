#pragma once
// The labels of a series. The label "__name__" has the metric name.

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
/// The maximum length in bytes of a label value that an expression creates. Without a limit, each
/// function in an expression could make the value many times longer.
inline constexpr size_t kLabelValueBytesMax = 64 * 1024;

/// A set of labels, sorted by name, with unique names. Empty values are not stored: an empty value
/// means that the label is absent.
class Labels {
 public:
  using Pair = std::pair<std::string, std::string>;

  Labels() = default;
  /// `pairs` may be in any order. If a name occurs twice, its last value is used.
  explicit Labels(std::vector<Pair> pairs);

  /// Returns the value of a label, or "" if it is absent.
  [[nodiscard]] std::string_view Get(std::string_view name) const;
  /// Sets the value of a label. An empty value removes the label.
  void Set(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  /// Removes the metric name. As in Prometheus, also removes the labels "__type__" and "__unit__".
  void RemoveName();
  /// Keep removes all labels except those in `names`; Drop removes those. `names` is sorted.
  void Keep(std::span<const std::string> names);
  void Drop(std::span<const std::string> names);

  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  /// Returns the approximate number of bytes that the labels take.
  [[nodiscard]] size_t bytes() const;
  /// Returns the cost of copying or comparing the labels, in steps of a RequestContext.
  [[nodiscard]] uint64_t steps() const { return 4 + 4 * pairs_.size(); }
  /// Returns a string that is equal only for equal sets of labels. It can be used as a hash key.
  [[nodiscard]] std::string Key() const;
  /// Returns the labels as text for messages, such as {__name__="up", job="a"}.
  [[nodiscard]] std::string Text() const;

  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Pair> pairs_;
};

/// Returns the text in quotes, as PromQL writes strings. Characters outside ASCII are not escaped.
std::string Quoted(std::string_view text);

}  // namespace hg::query::promql
