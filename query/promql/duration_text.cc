#include "query/promql/duration_text.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace hg::query::promql {
namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};
constexpr Unit kUnits[] = {
    {"y", INT64_C(365) * 86400000},
    {"w", 7 * 86400000},
    {"d", 86400000},
    {"h", 3600000},
    {"m", 60000},
    {"s", 1000},
    {"ms", 1},
};

Status Refuse(std::string_view text, std::string_view why) {
  return Status::InvalidArgument("not a valid duration: \"" + std::string(text) + "\" " +
                                 std::string(why));
}

}  // namespace

Result<int64_t> ParseDurationMs(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return Refuse(text, "is empty");
  int64_t sum = 0;
  size_t next_unit = 0;  // units before this one are no longer allowed
  std::string_view rest = text;
  while (!rest.empty()) {
    int64_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error == std::errc::result_out_of_range) return Refuse(text, "is out of range");
    if (error != std::errc() || rest.front() == '-') return Refuse(text, "needs digits and units");
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    const std::string_view unit =
        rest.substr(0, std::min(rest.find_first_of("0123456789"), rest.size()));
    rest.remove_prefix(unit.size());
    while (next_unit < std::size(kUnits) && kUnits[next_unit].name != unit) ++next_unit;
    if (next_unit == std::size(kUnits))
      return Refuse(text, "needs units of y w d h m s ms, each once, in this order");
    int64_t ms = 0;
    if (__builtin_mul_overflow(count, kUnits[next_unit++].ms, &ms) ||
        __builtin_add_overflow(sum, ms, &sum) || sum > INT64_MAX / 1000000) {
      return Refuse(text, "is out of range");
    }
  }
  return sum;
}

std::string DurationText(int64_t ms) {
  if (ms == 0) return "0s";
  std::string text;
  for (const Unit& unit : kUnits) {
    const bool whole_only = unit.name == "y" || unit.name == "w";
    if (ms < unit.ms || (whole_only && ms % unit.ms != 0)) continue;
    text.append(std::to_string(ms / unit.ms)).append(unit.name);
    ms %= unit.ms;
  }
  return text;
}

}  // namespace hg::query::promql
