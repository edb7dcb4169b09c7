// Points in requests: every point that a fast parser accepts is also accepted by the parser of the
// slow path, with the same result (http/README.md, "Two paths for points").

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/telnet/put_line.h"
#include "http/wire/graphite_line.h"
#include "http/wire/influx_lines.h"
#include "http/wire/json_value.h"
#include "http/wire/pickle.h"
#include "http/wire/put_document.h"
#include "http/wire/put_json.h"
#include "http/wire/telnet_line.h"
#include "storage/base/invariant.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

bool SameTags(const std::vector<PutTag>& a, const std::vector<PutTag>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].key != b[i].key || a[i].value != b[i].value) return false;
  return true;
}

/// Parses a raw series key with the parser of the slow path and returns its series. Returns nullopt
/// if the table of known keys can never contain the key. For such a key, the fast path leaves the
/// whole body to the slow path.
std::optional<PutPoint> Series(const RawKey& raw_key) {
  auto points = ParsePutDocument(
      "[{\"metric\":\"" + std::string(raw_key.metric) +
          "\",\"timestamp\":1,\"value\":1,\"tags\":" + std::string(raw_key.tags) + "}]",
      nullptr);
  if (!points.ok() || points->size() != 1) return {};
  PutPoint point = std::move(points->front());
  if (!point.metric || !point.tags || point.timestamp != 1) return {};
  return point;
}

void CheckPoint(const KeyedPoint& fast, const PutPoint& series, const PutPoint& exact) {
  INVARIANT(!exact.null && exact.metric == series.metric && exact.timestamp == fast.time.raw);
  INVARIANT(exact.tags && SameTags(*exact.tags, *series.tags));
  PointValue value;
  NumberError error;
  INVARIANT(exact.value && ParseValue(*exact.value, EntryPath::kHttp, &value, &error));
  INVARIANT(value == fast.value);
  INVARIANT(fast.time.raw > 0 && fast.time.raw <= kTimestampMax);
}

void Json(std::string_view input) {
  // A heap block of exactly the promised size, so that the address sanitizer finds reads beyond the
  // padding.
  const auto block = std::make_unique<char[]>(input.size() + kPutPadding);
  std::memcpy(block.get(), input.data(), input.size());
  const std::string_view body(block.get(), input.size());

  static PutJsonParser parser;
  std::vector<KeyedPoint> points;
  const bool fast = parser.Parse(body, &points);
  INVARIANT(body == input);
  std::vector<PutPoint> series;
  for (const KeyedPoint& point : points) {
    if (!fast) break;
    for (const std::string_view text : {point.series.metric, point.series.tags})
      INVARIANT(text.data() >= body.data() &&
                text.data() + text.size() <= body.data() + body.size());
    if (auto named = Series(point.series)) series.push_back(std::move(*named));
  }
  const auto exact = ParsePutDocument(body, nullptr);
  if (fast && series.size() == points.size()) {
    INVARIANT(exact.ok() && exact->size() == points.size());
    for (size_t i = 0; i < points.size(); ++i) CheckPoint(points[i], series[i], (*exact)[i]);
  }
  std::vector<RawKey> raw_keys;
  parser.ParseRawKeys(body, &raw_keys);
  if (exact.ok()) {
    // A raw key that is added to the table must mean the series of the point that it comes from.
    for (size_t i = 0; i < std::min(raw_keys.size(), exact->size()); ++i) {
      const auto named = Series(raw_keys[i]);
      if (raw_keys[i].metric.empty() || !named) continue;
      INVARIANT((*exact)[i].metric == named->metric && (*exact)[i].tags);
      INVARIANT(SameTags(*(*exact)[i].tags, *named->tags));
    }
  }
  (void)ParsePutDocument(body, nullptr, PutKind::kRollups);
  (void)ParsePutDocument(body, nullptr, PutKind::kHistograms);
}

/// Runs one line on the slow path and returns its reply.
std::string Exact(std::string_view line, PutLines* lines) {
  std::vector<std::string_view> words;
  SplitWords(line, &words);
  INVARIANT(words[0] == "put");
  return lines->Add(line, words);
}

/// Runs a single line, including its LF, on the fast path.
void CheckLine(std::string_view line, const KeyedPoint& fast) {
  PutLines lines;
  if (Exact(line, &lines).empty()) {
    INVARIANT(lines.points()[0].time.raw == fast.time.raw);
    INVARIANT(lines.points()[0].value == fast.value);
    INVARIANT(lines.points()[0].raw_key.metric == fast.series.metric);
    INVARIANT(lines.points()[0].raw_key.tags == fast.series.tags);
    return;
  }
  // If the slow path refuses the line, its names are the reason. With other names the line is
  // valid.
  PutWords words;
  INVARIANT(SplitPut(line, &words));
  const std::string other =
      "put m " + std::string(words.time) + " " + std::string(words.value) + " a=b";
  PutLines again;
  INVARIANT(Exact(other, &again).empty());
  INVARIANT(again.points()[0].time.raw == fast.time.raw);
  INVARIANT(again.points()[0].value == fast.value);
}

void Lines(std::string text) {
  text += '\n';
  std::vector<KeyedPoint> together, alone;
  bool all = true;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    const std::string_view line = TakeLine(&rest);
    std::vector<KeyedPoint> one;
    if (ParsePutLines(before.substr(0, before.size() - rest.size()), &one)) {
      INVARIANT(one.size() == 1);
      CheckLine(line, one[0]);
      alone.push_back(one[0]);
    } else {
      all = false;
      PutLines lines;
      if (line.starts_with("put ")) (void)Exact(line, &lines);
    }
  }
  INVARIANT(ParsePutLines(text, &together) == all);
  if (!all) return;
  INVARIANT(together.size() == alone.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    INVARIANT(together[i].series.metric == alone[i].series.metric);
    INVARIANT(together[i].series.tags == alone[i].series.tags);
    INVARIANT(together[i].time.raw == alone[i].time.raw && together[i].value == alone[i].value);
  }
}

/// Parses the line on the slow path. If this fails, parses it again with the series "m" (`other`),
/// because the names may be the reason.
bool ExactInflux(std::string_view line, std::string_view series, InfluxLine* parts,
                 std::string* other) {
  if (ParseInfluxLine(line, parts).ok()) return true;
  *other = "m" + std::string(line.substr(series.size()));
  return ParseInfluxLine(*other, parts).ok();
}

void Influx(std::string_view body) {
  InfluxPoints fast;
  const Timestamp now{1700000000};
  constexpr auto kUnit = InfluxUnit::kNanosecond;
  const bool plain = ParseInfluxLines(body, kUnit, now, &fast);
  InfluxLineReader reader(body);
  size_t at = 0, field_at = 0;
  for (std::string_view line; reader.Next(&line);) {
    if (line.empty()) continue;
    InfluxLine parts;
    if (!plain) {
      (void)ParseInfluxLine(line, &parts);
      continue;
    }
    INVARIANT(at < fast.lines.size());
    const KeyedLine& mine = fast.lines[at++];
    const auto fields = std::span(fast.fields).subspan(field_at, mine.fields);
    field_at += mine.fields;
    // The fast path takes the bytes before the first blank as a series, also from several lines.
    // The table of known lines never has such a series.
    if (mine.series.find('\n') != std::string_view::npos) return;
    INVARIANT(line.starts_with(mine.series));
    std::string other;
    if (!ExactInflux(line, mine.series, &parts, &other)) {
      // The fast path accepts a line with a repeated field, because the table of known lines never
      // has this line. The fast path refuses all other errors.
      bool twice = false;
      for (size_t i = 0; i < fields.size(); ++i)
        for (size_t j = 0; j < i; ++j) twice |= fields[i].name == fields[j].name;
      INVARIANT(twice);
      continue;
    }
    INVARIANT(parts.fields.size() == fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      INVARIANT(parts.fields[i].raw_name == fields[i].name);
      INVARIANT(parts.fields[i].value == fields[i].value);
    }
    INVARIANT(mine.time.raw == (parts.time ? InfluxTime(*parts.time, kUnit)->raw : now.raw));
    if (other.empty()) INVARIANT(parts.series == mine.series);
  }
  INVARIANT(!plain || (at == fast.lines.size() && field_at == fast.fields.size()));
}

constexpr std::string_view kInflux = "influx\n", kGraphite = "graphite\n", kPickle = "pickle\n";

void CheckGraphite(const GraphitePoint& point) {
  GraphiteSeries series;
  INVARIANT(ReadGraphitePath(point.path, &series).ok());
  INVARIANT(!series.metric.empty() && point.time.in_range());
  INVARIANT(!point.value.is_float() || std::isfinite(point.value.as_double()));
  for (const auto& [key, value] : series.tags) INVARIANT(!key.empty() && !value.empty());
  const RawKey raw_key = RawKeyOfGraphitePath(point.path);
  INVARIANT(raw_key.metric == series.metric && GraphitePath(raw_key) == point.path);
}

void Graphite(std::string_view text) {
  const Timestamp now{1700000000};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto exact = ParseGraphiteLine(text.substr(0, end), now);
    if (exact.ok()) CheckGraphite(*exact);
    GraphitePoint plain;
    GraphiteSeries series;
    std::string_view rest = text;
    if (TakePlainGraphiteLine(&rest, &plain)) {
      INVARIANT(rest == text.substr(end + 1));
      INVARIANT(exact.ok() == ReadGraphitePath(plain.path, &series).ok());
      INVARIANT(!exact.ok() || (exact->path == plain.path && exact->value == plain.value &&
                                exact->time.raw == plain.time.raw));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Pickle(std::string_view pickle) {
  Result<PickledPoints> points = PickledPoints::Parse(pickle, Timestamp{1700000000});
  if (!points.ok()) return;
  while (const auto point = points->Next()) {
    GraphiteSeries series;
    if (point->ok() && ReadGraphitePath((*point)->path, &series).ok()) CheckGraphite(**point);
  }
}

}  // namespace
}  // namespace hg::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("put ")) {
    hg::http::Lines(std::string(text));
  } else if (text.starts_with(hg::http::kInflux)) {
    hg::http::Influx(text.substr(hg::http::kInflux.size()));
  } else if (text.starts_with(hg::http::kGraphite)) {
    hg::http::Graphite(text.substr(hg::http::kGraphite.size()));
  } else if (text.starts_with(hg::http::kPickle)) {
    hg::http::Pickle(text.substr(hg::http::kPickle.size()));
  } else {
    hg::http::Json(text);
  }
  return 0;
}
