#include "http/wire/prom_time.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

#include "query/promql/duration_text.h"
#include "query/promql/number_text.h"

namespace hg::http {
namespace {

/// Below this limit, sums of milliseconds do not overflow: about a hundred million years.
constexpr double kSecondsMax = 4e15;

/// Removes `digits` digits and the text `behind`, which must follow them, from the front.
bool TakeNumber(std::string_view* rest, size_t digits, std::string_view behind, int* number) {
  if (rest->size() < digits + behind.size() || rest->front() == '-') return false;
  const auto [end, error] = std::from_chars(rest->data(), rest->data() + digits, *number);
  if (error != std::errc() || end != rest->data() + digits) return false;
  rest->remove_prefix(digits);
  if (!rest->starts_with(behind)) return false;
  rest->remove_prefix(behind.size());
  return true;
}

/// Takes an optional fraction: ".781" is 781 milliseconds.
bool TakeFraction(std::string_view* rest, int64_t* ms) {
  *ms = 0;
  if (!rest->starts_with('.')) return true;
  rest->remove_prefix(1);
  const std::string_view digits = rest->substr(0, rest->find_first_not_of("0123456789"));
  if (digits.empty()) return false;
  rest->remove_prefix(digits.size());
  const std::string padded = std::string(digits.substr(0, 3)) + "00";
  *ms = std::stoi(padded.substr(0, 3));
  return true;
}

/// Takes "Z" or an offset like "+02:00". *minutes is the offset in minutes east of UTC.
bool TakeZone(std::string_view* rest, int* minutes) {
  *minutes = 0;
  if (rest->starts_with('Z')) {
    rest->remove_prefix(1);
    return true;
  }
  const bool west = rest->starts_with('-');
  if (!west && !rest->starts_with('+')) return false;
  rest->remove_prefix(1);
  int hour = 0, minute = 0;
  if (!TakeNumber(rest, 2, ":", &hour) || !TakeNumber(rest, 2, "", &minute)) return false;
  if (hour > 23 || minute > 59) return false;
  *minutes = (hour * 60 + minute) * (west ? -1 : 1);
  return true;
}

std::optional<int64_t> Rfc3339Ms(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zone = 0;
  int64_t ms = 0;
  if (!TakeNumber(&text, 4, "-", &year) || !TakeNumber(&text, 2, "-", &month) ||
      !TakeNumber(&text, 2, "T", &day) || !TakeNumber(&text, 2, ":", &hour) ||
      !TakeNumber(&text, 2, ":", &minute) || !TakeNumber(&text, 2, "", &second) ||
      !TakeFraction(&text, &ms) || !TakeZone(&text, &zone) || !text.empty()) {
    return {};
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t minutes = days * 1440 + hour * 60 + minute - zone;
  return (minutes * 60 + second) * 1000 + ms;
}

}  // namespace

Result<int64_t> ParsePromTime(std::string_view text) {
  const std::optional<double> seconds = query::promql::ParseFloat(text);
  if (seconds && std::abs(*seconds) < kSecondsMax) {
    double whole = 0;
    const double fraction = std::modf(*seconds, &whole);
    return static_cast<int64_t>(whole) * 1000 + std::llround(fraction * 1000);
  }
  if (const std::optional<int64_t> ms = Rfc3339Ms(text)) return *ms;
  return Status::InvalidArgument("cannot parse \"" + std::string(text) + "\" to a valid timestamp");
}

Result<int64_t> ParsePromDuration(std::string_view text) {
  constexpr double kDurationSecondsMax = 9e9;  // this many seconds fit 64 bits as nanoseconds
  if (const std::optional<double> seconds = query::promql::ParseFloat(text)) {
    if (std::abs(*seconds) < kDurationSecondsMax) return static_cast<int64_t>(*seconds * 1000);
  } else if (const Result<int64_t> ms = query::promql::ParseDurationMs(text); ms.ok()) {
    return *ms;
  }
  return Status::InvalidArgument("cannot parse \"" + std::string(text) + "\" to a valid duration");
}

}  // namespace hg::http
