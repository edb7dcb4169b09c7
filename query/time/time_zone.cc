#include "query/time/time_zone.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>

#define USE_OS_TZDB 1
#define HAS_STRING_VIEW 1
#include <date/tz.h>

namespace hg::query {
namespace {

using Millis = std::chrono::milliseconds;

const date::time_zone* Zone(const void* p) { return static_cast<const date::time_zone*>(p); }

int64_t MillisOf(std::chrono::seconds s) { return Millis(s).count(); }

// Java's own ids (java.time.ZoneId.SHORT_IDS).
constexpr struct {
  std::string_view id, zone;
} kJavaIds[] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

// Ids that the system's database has but Java does not know.
bool IsUnknownToJava(std::string_view id) {
  return id == "GMT+0" || id == "GMT-0" || id == "ROC" || id == "Factory" || id == "localtime" ||
         id == "posixrules" || id.starts_with("posix/") || id.starts_with("right/");
}

}  // namespace

Result<TimeZone> TimeZone::Find(std::string_view id) {
  if (id == "UTC" || id == "GMT") return TimeZone();
  const Status unknown = Status::InvalidArgument("Invalid timezone name: " + std::string(id));
  if (IsUnknownToJava(id)) return unknown;
  const auto* own = std::find_if(std::begin(kJavaIds), std::end(kJavaIds),
                                 [&](const auto& entry) { return entry.id == id; });
  try {
    return TimeZone(date::locate_zone(own == std::end(kJavaIds) ? id : own->zone));
  } catch (const std::exception&) {
    return unknown;
  }
}

TimeZone TimeZone::Local() {
  const char* tz = std::getenv("TZ");
  if (tz != nullptr && tz[0] != '\0') {
    Result<TimeZone> zone = Find(tz[0] == ':' ? tz + 1 : tz);
    return zone.ok() ? *zone : TimeZone();
  }
  try {
    return TimeZone(date::current_zone());
  } catch (const std::exception&) {
    return {};
  }
}

int64_t TimeZone::OffsetAt(int64_t ms) const {
  if (zone_ == nullptr) return 0;
  date::sys_seconds at{std::chrono::seconds(FloorDiv(ms, 1000))};
  return MillisOf(Zone(zone_)->get_info(at).offset);
}

int64_t TimeZone::NextChange(int64_t ms) const {
  if (zone_ == nullptr) return INT64_MAX;
  const date::sys_seconds at{std::chrono::seconds(FloorDiv(ms, 1000))};
  const int64_t end_s = Zone(zone_)->get_info(at).end.time_since_epoch().count();
  return end_s > INT64_MAX / 1000 ? INT64_MAX : end_s * 1000;
}

int64_t TimeZone::FromLocal(int64_t local_ms) const {
  if (zone_ == nullptr) return local_ms;
  date::local_seconds at{std::chrono::seconds(FloorDiv(local_ms, 1000))};
  date::local_info info = Zone(zone_)->get_info(at);
  // If the local time does not exist, the offset before the change is used, which moves the time
  // forward. If the local time exists twice, the offset after the change is used.
  const date::sys_info& used =
      info.result == date::local_info::ambiguous ? info.second : info.first;
  return local_ms - MillisOf(used.offset);
}

int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day) {
  year += FloorDiv(month - 1, 12);
  month = month - 1 - FloorDiv(month - 1, 12) * 12 + 1;
  // Days counted from 0000-03-01 in eras of 400 years (H. Hinnant, "chrono-Compatible Low-Level
  // Date Algorithms").
  int64_t y = month <= 2 ? year - 1 : year;
  int64_t era = FloorDiv(y, 400);
  int64_t year_of_era = y - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468 + day - 1;
}

CivilDate CivilFromDays(int64_t days) {
  date::year_month_day ymd{date::sys_days(date::days(days))};
  return {static_cast<int>(ymd.year()), static_cast<int>(static_cast<unsigned>(ymd.month())),
          static_cast<int>(static_cast<unsigned>(ymd.day()))};
}

}  // namespace hg::query
