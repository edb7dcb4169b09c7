#pragma once
// Remarks about a query. The response contains them together with the result.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query::promql {

enum class Remark : unsigned char { kWarning, kInfo };

/// The remarks that Prometheus returns as "warnings" and "infos". The object keeps only a few, so
/// their memory is not charged to the query. Not thread-safe.
class Annotations {
 public:
  /// The maximum number of remarks of each kind that the object keeps.
  static constexpr size_t kMost = 10;

  /// Adds a remark about the part of the expression at the byte offset `at`. If the same text was
  /// added before, only its place changes, as in Prometheus.
  void Add(Remark kind, size_t at, std::string text);
  /// Returns the remarks of a kind with their places, as "PromQL info: … (1:6)". `query` is the
  /// text of the whole expression.
  [[nodiscard]] std::vector<std::string> Texts(Remark kind, std::string_view query) const;

 private:
  struct Entry {
    Remark kind = Remark::kWarning;
    size_t at = 0;
    std::string text;
  };
  std::vector<Entry> entries_;
  bool more_[2] = {false, false};  // by kind: whether some remarks were not kept
};

/// Returns the place of byte `at` as "1:6": the line, and the byte within that line.
std::string PlaceText(std::string_view query, size_t at);

}  // namespace hg::query::promql
