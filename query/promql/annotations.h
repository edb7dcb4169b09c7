#pragma once
// Remarks about a query, such as warnings. The response contains them in addition to the result.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hg::query::promql {

enum class Remark : unsigned char { kWarning, kInfo };

/// The remarks of one query, which Prometheus returns as "warnings" and "infos". The object keeps
/// only a few remarks, so their memory is not charged to the query. Not thread-safe.
class Annotations {
 public:
  /// The maximum number of remarks of each kind that the object keeps.
  static constexpr size_t kMost = 10;

  /// Adds a remark about the part of the expression that begins at the byte offset `at`. If a
  /// remark of the same kind with the same text exists, only the place of that remark changes, as
  /// in Prometheus.
  void Add(Remark kind, size_t at, std::string text);
  /// Returns the remarks of one kind as texts such as "PromQL info: … (1:6)". The numbers in
  /// parentheses are the place (see PlaceText). `query` is the text of the whole expression.
  [[nodiscard]] std::vector<std::string> Texts(Remark kind, std::string_view query) const;

 private:
  struct Entry {
    Remark kind = Remark::kWarning;
    size_t at = 0;
    std::string text;
  };
  std::vector<Entry> entries_;
  /// For each kind of remark: whether some remarks were not kept because there were more than
  /// kMost.
  bool more_[2] = {false, false};
};

/// Returns the place of the byte at offset `at` in `query` as a text such as "1:6": the number of
/// the line, and the number of the byte within that line. Both numbers start at 1.
std::string PlaceText(std::string_view query, size_t at);

}  // namespace hg::query::promql
