#pragma once
// Remarks about a query, such as warnings. The response contains the remarks together with the
// result.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query::promql {

enum class Remark : unsigned char { kWarning, kInfo };

/// The remarks of one query, which Prometheus returns as "warnings" and "infos". The object keeps
/// only a few remarks, so their memory is not charged to the query. The object is not thread-safe.
class Annotations {
 public:
  /// The maximum number of remarks of each kind that the object keeps.
  static constexpr size_t kMost = 10;

  /// Adds a remark about the part of the expression at the byte offset `at`. If a remark with the
  /// same text exists, only the place of that remark changes, as in Prometheus.
  void Add(Remark kind, size_t at, std::string text);
  /// Returns the remarks of one kind with their places, as "PromQL info: … (1:6)". `query` is the
  /// text of the whole expression.
  [[nodiscard]] std::vector<std::string> Texts(Remark kind, std::string_view query) const;

 private:
  struct Entry {
    Remark kind = Remark::kWarning;
    size_t at = 0;
    std::string text;
  };
  std::vector<Entry> entries_;
  bool more_[2] = {false, false};  // for each kind of remark: whether some remarks were not kept
};

/// Returns the place of the byte at offset `at` as a text such as "1:6": the line, and the byte
/// within that line.
std::string PlaceText(std::string_view query, size_t at);

}  // namespace hg::query::promql
