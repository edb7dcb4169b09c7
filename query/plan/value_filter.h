#pragma once
// Selects points of a sub-query by their values: the Hourglass extension "valueFilter"
// (docs/extensions.md). The filter is applied to raw points before any other step.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

/// Working memory of ValueFilter::Apply: the remaining points of one row.
struct KeptPoints {
  std::vector<uint32_t> offset_ms;
  std::vector<uint64_t> value;
  std::vector<uint8_t> is_double;
};

/// A condition: the comparison of a value with a number. If both are integers, the comparison is
/// exact; otherwise both are compared as doubles. Only "!=" admits NaN. Immutable.
class ValueFilter {
 public:
  /// Parses an operator (`>`, `>=`, `<`, `<=`, `==` or `!=`) and a number. Blanks around both are
  /// ignored. The message of InvalidArgument contains the text.
  static Result<ValueFilter> Parse(std::string_view text);

  [[nodiscard]] bool Admits(int64_t value) const;
  [[nodiscard]] bool Admits(double value) const;
  /// AdmitsSome returns whether a row with these statistics may have a point that the filter
  /// admits. AdmitsAll returns whether the filter admits all points of the row.
  [[nodiscard]] bool AdmitsSome(const RowStatistics& row) const;
  [[nodiscard]] bool AdmitsAll(const RowStatistics& row) const;
  /// Removes those points of a loaded row that the filter does not admit. The remaining points are
  /// in `*kept`, and the row refers to them.
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
  std::optional<int64_t> integer_;  // the number as an integer, if it is one
};

}  // namespace hg::query
