#pragma once
// Which points of a sub-query count by their values: our extension "valueFilter"
// (docs/extensions.md; OpenTSDB has none). It is applied to raw points, before anything else is
// done with them.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

/// The points of a row that are left. Room for one row after the other.
struct KeptPoints {
  std::vector<uint32_t> offset_ms;
  std::vector<uint64_t> value;
  std::vector<uint8_t> is_double;
};

/// A comparison with a number. Integers are compared with an integer exactly, everything else as
/// doubles: NaN is admitted by "!=" only. Immutable.
class ValueFilter {
 public:
  /// `>`, `>=`, `<`, `<=`, `==` or `!=`, and a number; blanks around both do not count.
  /// InvalidArgument names the text.
  static Result<ValueFilter> Parse(std::string_view text);

  [[nodiscard]] bool Admits(int64_t value) const;
  [[nodiscard]] bool Admits(double value) const;
  /// Whether some point of a row may be admitted, and whether all are, as its statistics tell.
  [[nodiscard]] bool AdmitsSome(const RowStatistics& row) const;
  [[nodiscard]] bool AdmitsAll(const RowStatistics& row) const;
  /// Leaves the admitted points of a loaded row, which then borrows *kept.
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
  std::optional<int64_t> integer_;  // the same number, if it is one
};

}  // namespace hg::query
