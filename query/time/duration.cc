#include "query/time/duration.h"

#include <charconv>
#include <string>

#include "storage/model/letter_case.h"

namespace hg::query {
namespace {

int64_t UnitMillis(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis:
      return 1;
    case TimeUnit::kSecond:
      return 1000;
    case TimeUnit::kMinute:
      return 60'000;
    case TimeUnit::kHour:
      return 3'600'000;
    case TimeUnit::kDay:
      return 86'400'000;
    case TimeUnit::kWeek:
      return 7 * 86'400'000LL;
    case TimeUnit::kMonth:
      return 30 * 86'400'000LL;
    case TimeUnit::kYear:
      return 365 * 86'400'000LL;
  }
  return 1;
}

}  // namespace

int64_t Duration::millis() const { return count * UnitMillis(unit); }

Result<Duration> ParseDuration(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == text.size()) {
    return Status::InvalidArgument("Invalid duration, must have an integer and unit: " +
                                   std::string(text));
  }
  Duration out;
  auto [end, error] = std::from_chars(text.data(), text.data() + digits, out.count);
  if (digits == 0 || error != std::errc()) {
    return Status::InvalidArgument("Invalid duration (number): " + std::string(text));
  }
  if (out.count <= 0)
    return Status::InvalidArgument("Zero or negative duration: " + std::string(text));
  switch (LowerCase(text.back())) {
    case 's':
      out.unit = LowerCase(text[text.size() - 2]) == 'm' ? TimeUnit::kMillis : TimeUnit::kSecond;
      break;
    case 'm':
      out.unit = TimeUnit::kMinute;
      break;
    case 'h':
      out.unit = TimeUnit::kHour;
      break;
    case 'd':
      out.unit = TimeUnit::kDay;
      break;
    case 'w':
      out.unit = TimeUnit::kWeek;
      break;
    case 'n':
      out.unit = TimeUnit::kMonth;
      break;
    case 'y':
      out.unit = TimeUnit::kYear;
      break;
    default:
      return Status::InvalidArgument("Invalid duration (suffix): " + std::string(text));
  }
  int64_t millis;
  if (__builtin_mul_overflow(out.count, UnitMillis(out.unit), &millis)) {
    return Status::InvalidArgument("Duration must be < Long.MAX_VALUE ms: " + std::string(text));
  }
  return out;
}

}  // namespace hg::query
