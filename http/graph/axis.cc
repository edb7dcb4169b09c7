#include "http/graph/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "query/time/calendar.h"
#include "storage/base/invariant.h"

namespace hg::http::graph {
namespace {

using query::Duration;
using query::TimeUnit;

// Smaller numbers have too few digits to be divided into steps.
constexpr double kLeast = std::numeric_limits<double>::min();

constexpr int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

/// Formats one double with printf. style.cc has validated the format.
std::string Formatted(const std::string& format, double value) {
  std::array<char, 256> text{};
  const int length = std::snprintf(text.data(), text.size(), format.c_str(), value);
  return {text.data(), std::min(static_cast<size_t>(std::max(length, 0)), text.size() - 1)};
}

/// Returns the power of 1000 by which gnuplot's formats "s" and "c" scale a number. They print 1500
/// as "1.5" and "k".
int ScaleOf(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const int scale = static_cast<int>(std::floor(std::log10(std::abs(value)) / 3 + 1e-12));
  return std::clamp(scale, -6, 6);
}

std::string_view ScaleLetter(int scale) {
  static constexpr std::array<std::string_view, 13> kLetters = {"a", "f", "p", "n", "u", "m", "",
                                                                "k", "M", "G", "T", "P", "E"};
  return kLetters[static_cast<size_t>(scale + 6)];
}

/// Returns the smallest number that is 1, 2 or 5 times a power of ten and is not below `least`.
double NiceStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

struct TimeStep {
  int64_t ms;
  Duration interval;
  const char* format;  // H, M, S, y, m, d as in strftime
};

const std::vector<TimeStep>& TimeSteps() {
  static const std::vector<TimeStep> steps = [] {
    std::vector<TimeStep> out;
    for (int n : {1, 2, 5, 10, 20, 50, 100, 200, 500})
      out.push_back({n, {n, TimeUnit::kMillis}, "%H:%M:%S.%L"});
    for (int n : {1, 2, 5, 10, 15, 30})
      out.push_back({n * kSecond, {n, TimeUnit::kSecond}, "%H:%M:%S"});
    for (int n : {1, 2, 5, 10, 15, 30})
      out.push_back({n * kMinute, {n, TimeUnit::kMinute}, "%H:%M"});
    for (int n : {1, 2, 3, 4, 6, 12}) out.push_back({n * kHour, {n, TimeUnit::kHour}, "%H:%M"});
    for (int n : {1, 2}) out.push_back({n * kDay, {n, TimeUnit::kDay}, "%m/%d"});
    out.push_back({7 * kDay, {1, TimeUnit::kWeek}, "%m/%d"});
    for (int n : {1, 2, 3, 6}) out.push_back({30 * n * kDay, {n, TimeUnit::kMonth}, "%Y/%m"});
    for (int n : {1, 2, 5, 10, 20, 50, 100, 200})
      out.push_back({365 * n * kDay, {n, TimeUnit::kYear}, "%Y"});
    return out;
  }();
  return steps;
}

std::string TimeText(int64_t ms, const query::TimeZone& zone, std::string_view format) {
  const int64_t local = zone.ToLocal(ms);
  const int64_t day = query::FloorDiv(local, kDay);
  const int64_t in_day = local - day * kDay;
  // Midnight is shown as the date of the day that begins.
  if (in_day == 0 && format.find('H') != std::string_view::npos) format = "%m/%d";
  const query::CivilDate date = query::CivilFromDays(day);
  std::string out;
  const auto add = [&out](const char* how, int64_t number) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), how, static_cast<long long>(number));
    out += text.data();
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    switch (format[++i]) {
      case 'H':
        add("%02lld", in_day / kHour);
        break;
      case 'M':
        add("%02lld", in_day / kMinute % 60);
        break;
      case 'S':
        add("%02lld", in_day / kSecond % 60);
        break;
      case 'L':
        add("%03lld", in_day % kSecond);
        break;
      case 'Y':
        add("%lld", date.year);
        break;
      case 'm':
        add("%02lld", date.month);
        break;
      default:
        add("%02lld", date.day);
    }
  }
  return out;
}

}  // namespace

std::string NumberLabel(const std::string& format, double value, double step) {
  if (format.empty()) {
    const double size = std::max(std::abs(value), std::abs(step));
    if (size >= 1e7 || (size > 0 && size < 1e-4)) return Formatted("%g", value);
    const int digits = static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    return Formatted("%." + std::to_string(std::clamp(digits, 0, 6)) + "f", value);
  }
  const int scale = ScaleOf(value);
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    const size_t end = format.find_first_of("%efgEGsc", i + 1);
    std::string one = format.substr(i, end + 1 - i);
    i = end;
    if (one == "%%") {
      out.push_back('%');
    } else if (one.back() == 'c') {
      out += ScaleLetter(scale);
    } else {
      const bool scaled = one.back() == 's';
      if (scaled) one.back() = one.find('.') == std::string::npos ? 'g' : 'f';
      out += Formatted(one, scaled ? value / std::pow(1000, scale) : value);
    }
  }
  return out;
}

ValueScale::ValueScale(const ValueAxis& axis, double low, double high, int marks)
    : logarithmic_(axis.logarithmic) {
  if (low > high) {
    low = logarithmic_ ? 1 : 0;
    high = logarithmic_ ? 10 : 1;
  }
  if (!logarithmic_ && high - low < kLeast) {
    const double room = std::abs(low) < kLeast ? 1 : std::abs(low) / 10;
    low -= room;
    high += room;
  }
  low_ = axis.low.value_or(low);
  high_ = axis.high.value_or(high);
  if (logarithmic_) {
    if (high_ <= 0) high_ = 10;
    if (low_ <= 0) low_ = high_ / 1000;
    low_ = std::max(low_, kLeast);
    high_ = std::max(high_, kLeast);
    if (!axis.low) low_ = std::pow(10, std::floor(std::log10(low_) + 1e-9));
    if (!axis.high) high_ = std::pow(10, std::ceil(std::log10(high_) - 1e-9));
  }
  // Differences between the ends, and the tick marks beyond them, must be finite.
  low_ = std::clamp(low_, -1e307, 1e307);
  high_ = std::clamp(high_, -1e307, 1e307);
  // A shorter axis has too few numbers for tick marks.
  const bool too_short = logarithmic_ ? !(std::log10(high_) - std::log10(low_) > 1e-12)
                                      : !(high_ - low_ > kLeast + std::abs(low_) * 5e-16);
  if (too_short) {
    // Usually the request gives only one end, and all points are beyond that end, so the other end
    // is computed from it.
    if (axis.low) {
      high_ = logarithmic_ ? low_ * 10 : low_ + std::max(1.0, std::abs(low_) / 10);
    } else {
      low_ = logarithmic_ ? high_ / 10 : high_ - std::max(1.0, std::abs(high_) / 10);
    }
  }
  INVARIANT(low_ < high_ && (!logarithmic_ || low_ > 0));
  if (logarithmic_) {
    MarkLogarithmic(axis, marks);
  } else {
    MarkLinear(axis, marks);
  }
}

void ValueScale::MarkLinear(const ValueAxis& axis, int marks) {
  const double step = NiceStep((high_ - low_) / std::max(marks, 2));
  // An end of the axis that the request does not give is moved outwards to the next tick mark.
  if (!axis.low) low_ = std::floor(low_ / step + 1e-9) * step;
  if (!axis.high) high_ = std::ceil(high_ / step - 1e-9) * step;
  const double first = std::ceil(low_ / step - 1e-9);
  for (double n = first; n * step <= high_ + step * 1e-9 && marks_.size() < 100; ++n) {
    const double value = n == 0 ? 0 : n * step;
    marks_.push_back({At(value), NumberLabel(axis.format, value, step)});
    if (n + 1 == n) break;  // the value is too large for steps of one
  }
}

void ValueScale::MarkLogarithmic(const ValueAxis& axis, int marks) {
  const double decades = std::log10(high_) - std::log10(low_);
  const int step = std::max(1, static_cast<int>(std::ceil(decades / std::max(marks, 2))));
  const int first = static_cast<int>(std::ceil(std::log10(low_) - 1e-9));
  for (int power = first; power <= std::log10(high_) + 1e-9; power += step) {
    const double value = std::pow(10, power);
    marks_.push_back({At(value), NumberLabel(axis.format, value, value)});
  }
}

double ValueScale::At(double value) const {
  if (!logarithmic_) return (value - low_) / (high_ - low_);
  if (value <= 0) return -1e3;
  return (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
}

std::vector<Mark> TimeMarks(int64_t begin_ms, int64_t end_ms, const query::TimeZone& zone,
                            int marks) {
  std::vector<Mark> out;
  const int64_t span = end_ms - begin_ms;
  if (span <= 0) return out;
  const std::vector<TimeStep>& steps = TimeSteps();
  auto step = std::find_if(steps.begin(), steps.end(), [&](const TimeStep& candidate) {
    return candidate.ms * std::max(marks, 1) >= span;
  });
  if (step == steps.end()) --step;
  const query::Calendar calendar(step->interval, zone);
  int64_t at = calendar.PreviousBoundary(begin_ms);
  while (at < begin_ms) at = calendar.Next(at);
  for (; at <= end_ms && out.size() < 200; at = calendar.Next(at)) {
    out.push_back({static_cast<double>(at - begin_ms) / static_cast<double>(span),
                   TimeText(at, zone, step->format)});
  }
  return out;
}

}  // namespace hg::http::graph
