#pragma once
// Selects points of a sub-query by their values: the Hourglass extension "valueFilter"
// (docs/extensions.md). The filter is applied to the raw points, before all other processing.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

/// Working memory of ValueFilter::Apply: the points of one row that the filter accepted.
struct KeptPoints {
  std::vector<uint32_t> offset_ms;
  std::vector<uint64_t> value;
  std::vector<uint8_t> is_double;
};

/// A condition that compares the value of a point with a number. If both are integers, the
/// comparison is exact; otherwise both are compared as doubles. The operator "!=" accepts NaN; all
/// other operators reject NaN. A ValueFilter is immutable.
class ValueFilter {
 public:
  /// Parses an operator (`>`, `>=`, `<`, `<=`, `==` or `!=`) that is followed by a number. Blanks
  /// before and after the operator and the number are ignored. The message of InvalidArgument
  /// contains `text`.
  static Result<ValueFilter> Parse(std::string_view text);

  [[nodiscard]] bool Admits(int64_t value) const;
  [[nodiscard]] bool Admits(double value) const;
  /// AdmitsSome returns whether the filter may accept a point of a row with these statistics.
  /// AdmitsAll returns whether the filter accepts all points of the row.
  [[nodiscard]] bool AdmitsSome(const RowStatistics& row) const;
  [[nodiscard]] bool AdmitsAll(const RowStatistics& row) const;
  /// Removes the points that the filter rejects from `row`, whose points must be loaded. Stores the
  /// other points in `*kept`, and makes `row` refer to them. `*kept` must not change while `row` is
  /// in use.
  void Apply(RowHour* row, KeptPoints* kept) const;

 private:
  enum class Comparison : uint8_t {
    kGreater,
    kGreaterOrEqual,
    kLess,
    kLessOrEqual,
    kEqual,
    kNotEqual
  };
  static Comparison Opposite(Comparison comparison);
  [[nodiscard]] bool Holds(Comparison comparison, int64_t value) const;
  [[nodiscard]] bool Holds(Comparison comparison, double value) const;
  template <typename T>
  [[nodiscard]] bool SomeHold(Comparison comparison, T least, T most) const;
  [[nodiscard]] bool SomeHold(Comparison comparison, const RowStatistics& row) const;

  Comparison comparison_ = Comparison::kGreater;
  double number_ = 0;
  /// The number of the condition as an exact integer; nullopt: it has a fraction or does not fit 64
  /// bits.
  std::optional<int64_t> integer_;
};

}  // namespace hg::query
