#include "http/graph/style.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "storage/model/number_text.h"

namespace hg::http::graph {
namespace {

Status Wrong(std::string_view name, std::string_view value, std::string_view why) {
  return Status::InvalidArgument("Invalid " + std::string(name) + " parameter: \"" +
                                 std::string(value) + "\" " + std::string(why));
}

/// Returns the parameter, or nullptr if it is absent or empty.
const std::string* Given(const Parameters& parameters, std::string_view name) {
  const std::string* value = parameters.Find(name);
  return value == nullptr || value->empty() ? nullptr : value;
}

Status ReadSize(const Parameters& parameters, Style* style) {
  const std::string* text = Given(parameters, "wxh");
  if (text == nullptr) return {};
  const char* const end = text->data() + text->size();
  int width = 0, height = 0;
  const auto [middle, first] = std::from_chars(text->data(), end, width);
  if (first != std::errc() || middle == end || *middle != 'x')
    return Wrong("wxh", *text, "is not a width, an x and a height");
  const auto [stop, second] = std::from_chars(middle + 1, end, height);
  if (second != std::errc() || stop != end)
    return Wrong("wxh", *text, "is not a width, an x and a height");
  for (int side : {width, height}) {
    if (side < kSideMin || side > kSideMax)
      return Wrong("wxh", *text,
                   "must have sides of " + std::to_string(kSideMin) + " to " +
                       std::to_string(kSideMax) + " pixels");
  }
  if (int64_t{width} * height > kPixelsMax)
    return Wrong("wxh", *text, "has more than " + std::to_string(kPixelsMax) + " pixels");
  style->width = width;
  style->height = height;
  return {};
}

/// Reads one end of a range. "" and "*" mean that the end is chosen from the points.
bool ReadEnd(std::string_view text, std::optional<double>* end) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty() || text == "*") return true;
  double value = 0;
  if (!ParseJavaDouble(text, &value) || !std::isfinite(value)) return false;
  *end = value;
  return true;
}

Status ReadRange(const Parameters& parameters, std::string_view name, ValueAxis* axis) {
  const std::string* text = Given(parameters, name);
  if (text == nullptr) return {};
  const size_t colon = text->find(':');
  if (!text->starts_with('[') || !text->ends_with(']') || colon == std::string::npos ||
      !ReadEnd(std::string_view(*text).substr(1, colon - 1), &axis->low) ||
      !ReadEnd(std::string_view(*text).substr(colon + 1, text->size() - colon - 2), &axis->high))
    return Wrong(name, *text, "is not [LOW:HIGH]");
  if (axis->low && axis->high && !(*axis->low < *axis->high))
    return Wrong(name, *text, "must begin below its end");
  return {};
}

/// Returns true for a text with at most two printf conversions of a double, in which "%%" means a
/// percent sign.
bool IsFormat(std::string_view text) {
  int conversions = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7F) return false;
    if (text[i] != '%') continue;
    if (i + 1 < text.size() && text[i + 1] == '%') {
      ++i;
      continue;
    }
    ++conversions;
    const auto skip = [&](std::string_view any, size_t max) {
      size_t n = 0;
      while (i + 1 < text.size() && any.find(text[i + 1]) != std::string_view::npos) ++i, ++n;
      return n <= max;
    };
    constexpr std::string_view kDigits = "0123456789";
    if (!skip("-+ 0#", 5) || !skip(kDigits, 2)) return false;
    if (i + 1 < text.size() && text[i + 1] == '.') {
      ++i;
      if (!skip(kDigits, 2)) return false;
    }
    // gnuplot's "s" prints the scaled number, and "c" the letter of its scale.
    if (++i >= text.size() || std::string_view("efgEGsc").find(text[i]) == std::string_view::npos)
      return false;
  }
  return conversions <= 2;
}

Status ReadText(const Parameters& parameters, std::string_view name, std::string* out) {
  const std::string* text = Given(parameters, name);
  if (text == nullptr) return {};
  if (text->size() > kTextBytesMax)
    return Wrong(name, text->substr(0, 40) + "…",
                 "is longer than " + std::to_string(kTextBytesMax) + " bytes");
  *out = *text;
  return {};
}

Status ReadAxis(const Parameters& parameters, std::string_view axis_name, ValueAxis* axis) {
  const std::string name(axis_name);
  RETURN_IF_ERROR(ReadRange(parameters, name + "range", axis));
  RETURN_IF_ERROR(ReadText(parameters, name + "label", &axis->label));
  RETURN_IF_ERROR(ReadText(parameters, name + "format", &axis->format));
  if (!IsFormat(axis->format))
    return Wrong(name + "format", axis->format, "is not a format of one number, such as %.2f");
  axis->logarithmic = parameters.Has(name + "log");
  return {};
}

Status ReadColor(const Parameters& parameters, std::string_view name, std::optional<Color>* color) {
  const std::string* text = Given(parameters, name);
  if (text == nullptr) return {};
  if (*text == "transparent" && name == "bgcolor") {
    *color = std::nullopt;
    return {};
  }
  uint32_t rgb = 0;
  const char* const end = text->data() + text->size();
  const bool marked = (*text)[0] == 'x' || (*text)[0] == 'X' || (*text)[0] == '#';
  if (!marked || text->size() != 7 || std::from_chars(text->data() + 1, end, rgb, 16).ptr != end)
    return Wrong(name, *text, "is not a color such as xFF8000");
  *color = Color{static_cast<uint8_t>(rgb >> 16), static_cast<uint8_t>(rgb >> 8),
                 static_cast<uint8_t>(rgb)};
  return {};
}

Status ReadLegend(const Parameters& parameters, Legend* legend) {
  legend->shown = !parameters.Has("nokey");
  const std::string* text = Given(parameters, "key");
  if (text == nullptr) return {};
  std::string_view rest = *text;
  bool across_given = false;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty() || word == "vert" || word == "in" || word == "inside") continue;
    if (word == "out" || word == "outside") {
      legend->outside = true;
    } else if (word == "box") {
      legend->box = true;
    } else if (word == "horiz") {
      legend->horizontal = true;
    } else if (word == "left" || word == "right") {
      legend->across = word == "left" ? Place::kBegin : Place::kEnd;
      across_given = true;
    } else if (word == "top" || word == "bottom") {
      legend->along = word == "top" ? Place::kBegin : Place::kEnd;
    } else if (word == "center") {
      // As in gnuplot, "center" applies to the direction that no other word sets.
      (across_given ? legend->along : legend->across) = Place::kCenter;
    } else {
      return Wrong("key", *text, "has a word that is no place of a key");
    }
  }
  return {};
}

template <typename Value, size_t N>
Status ReadChoice(const Parameters& parameters, std::string_view name,
                  const std::pair<std::string_view, Value> (&choices)[N], Value* out) {
  const std::string* text = Given(parameters, name);
  if (text == nullptr) return {};
  for (const auto& [word, value] : choices) {
    if (word != *text) continue;
    *out = value;
    return {};
  }
  return Wrong(name, *text, "is not known");
}

constexpr std::pair<std::string_view, LineForm> kForms[] = {
    {"lines", LineForm::kLines},     {"linespoint", LineForm::kLinesAndPoints},
    {"points", LineForm::kPoints},   {"linespoints", LineForm::kLinesAndPoints},
    {"circles", LineForm::kCircles}, {"dots", LineForm::kDots},
    {"steps", LineForm::kSteps},     {"impulses", LineForm::kBars},
    {"boxes", LineForm::kBars},
};
// gnuplot's names of smoothings. gnuplot draws a different curve for each name of a curve.
// Hourglass draws the same curve for all of them.
constexpr std::pair<std::string_view, Smoothing> kSmoothings[] = {
    {"unique", Smoothing::kNone},        {"frequency", Smoothing::kNone},
    {"fnormal", Smoothing::kNone},       {"cumulative", Smoothing::kCumulative},
    {"cnormal", Smoothing::kCumulative}, {"bins", Smoothing::kNone},
    {"csplines", Smoothing::kCurve},     {"acsplines", Smoothing::kCurve},
    {"mcsplines", Smoothing::kCurve},    {"bezier", Smoothing::kCurve},
    {"sbezier", Smoothing::kCurve},
};

}  // namespace

Result<Style> ReadStyle(const Parameters& parameters) {
  Style style;
  RETURN_IF_ERROR(ReadSize(parameters, &style));
  RETURN_IF_ERROR(ReadAxis(parameters, "y", &style.left));
  RETURN_IF_ERROR(ReadAxis(parameters, "y2", &style.right));
  RETURN_IF_ERROR(ReadText(parameters, "title", &style.title));
  RETURN_IF_ERROR(ReadColor(parameters, "bgcolor", &style.background));
  std::optional<Color> foreground = style.foreground;
  RETURN_IF_ERROR(ReadColor(parameters, "fgcolor", &foreground));
  style.foreground = *foreground;
  RETURN_IF_ERROR(ReadLegend(parameters, &style.legend));
  RETURN_IF_ERROR(ReadChoice(parameters, "style", kForms, &style.form));
  RETURN_IF_ERROR(ReadChoice(parameters, "smooth", kSmoothings, &style.smoothing));
  return style;
}

}  // namespace hg::http::graph
