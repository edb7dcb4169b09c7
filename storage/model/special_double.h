#pragma once
// The doubles that Prometheus and OpenTelemetry send but that OpenTSDB's protocols reject: NaN,
// stale markers and infinities (docs/ingestion.md, "Values that are not numbers").

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/model/point.h"

namespace hg {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The bits of the NaN that Prometheus stores for every NaN except its stale marker.
inline constexpr uint64_t kNormalNanBits = 0x7FF8000000000001;
/// The bits of the NaN with which Prometheus marks the end of a series.
inline constexpr uint64_t kStaleMarkerBits = 0x7FF0000000000002;

inline constexpr uint64_t kInfinityBits = 0x7FF0000000000000;

/// Returns the stored value for a NaN with these bits.
inline PointValue StoredNan(uint64_t bits) {
  return {bits == kStaleMarkerBits ? kStaleMarkerBits : kNormalNanBits, kFloat64};
}

/// Returns whether `bits` is a NaN that was stored as a double, such as a stale marker. Queries of
/// OpenTSDB's API skip these values. Returns false for infinities, and for the NaN of a 4-byte
/// float. Programs other than Hourglass may have written a 4-byte NaN to tables of OpenTSDB.
/// OpenTSDB shows the 4-byte NaN, and fails a query that reads an infinity.
constexpr bool IsSpecialDouble(uint64_t bits) {
  constexpr uint64_t kBeyondFloat = 0x000000001FFFFFFF;
  return (bits & kInfinityBits) == kInfinityBits && (bits & kBeyondFloat) != 0;
}

/// The texts that stand for special doubles in CSV files, with the bits of the doubles.
inline constexpr std::array<std::pair<std::string_view, uint64_t>, 4> kSpecialDoubleTexts = {{
    {"NaN", kNormalNanBits},
    {"StaleNaN", kStaleMarkerBits},
    {"+Inf", kInfinityBits},
    {"-Inf", kInfinityBits | uint64_t{1} << 63},
}};

/// Returns the value for the text of a CSV cell. Returns nullopt if the text does not stand for a
/// special double.
inline std::optional<PointValue> ReadSpecialDouble(std::string_view text) {
  for (const auto& [name, bits] : kSpecialDoubleTexts)
    if (text == name) return PointValue{bits, kFloat64};
  return std::nullopt;
}

/// Returns the text of a double that is not finite.
inline std::string_view SpecialDoubleText(uint64_t bits) {
  for (const auto& [name, its_bits] : kSpecialDoubleTexts)
    if (bits == its_bits) return name;
  return "NaN";
}

}  // namespace hg
