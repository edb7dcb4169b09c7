#pragma once
// Where parsed points go: put, telnet and import hand them over, tsd/ingest implements it
// (design.md §2). Two ways in. A *spelled* point names its series by raw bytes of the wire; if that
// spelling was accepted before, it costs one hash look-up. A *named* point carries decoded names
// and goes the whole way: checks, ids, registration.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"

namespace hg {

/// How a spelling is written. The same bytes mean different series in different dialects.
enum class Dialect : uint8_t { kJson, kWords, kInflux, kLabels, kGraphite };

/// The bytes that name a series on the wire. kJson: what stands between the quotes of "metric", and
/// the tags object with its braces, trailing blanks cut, nothing decoded. kWords (telnet, import):
/// the metric's word, and everything behind the value's blank up to the line's end. kInflux: the
/// field's name as `metric`, and what stands before the line's first blank (measurement and tags)
/// as `tags`. kLabels (remote write, OTLP): metric and labels as sent, before they become names;
/// only who sends them can take them apart (http/wire/series_labels.h). kGraphite: a path up to its
/// first ';', and the rest from there. Borrowed.
struct Spelling {
  Dialect dialect = Dialect::kJson;
  std::string_view metric;
  std::string_view tags;
};

/// A point whose value was parsed without objection and is finite, at Timestamp::in_range and > 0.
struct SpelledPoint {
  Spelling series;
  Timestamp time;
  PointValue value;
};

/// A line of InfluxDB's protocol: points of one time whose series share measurement and tags.
/// Values and time as in SpelledPoint. Borrowed.
struct SpelledLine {
  std::string_view series;  // what stands before the first blank
  Timestamp time;
  uint32_t fields = 0;  // how many of the batch's fields are this line's, in order; at least one
};
struct SpelledField {
  std::string_view name;
  PointValue value;
};

struct TagText {
  std::string_view key;
  std::string_view value;
  bool null_value = false;  // JSON null: refused, with a text of its own
};

/// A point with its names in UTF-8, unchecked. Tags in the order in which they get their ids: of
/// OpenTSDB's languages that in which its map gives them (hash16).
struct NamedPoint {
  std::string_view metric;
  std::span<const TagText> tags;
  Timestamp time;
  PointValue value;
  /// If the point is good, this spelling is remembered for AppendSpelled; empty metric = don't.
  Spelling spelling;
};

/// Thread-safe.
class PointSink {
 public:
  virtual ~PointSink() = default;

  /// What Commit must reach before the points may be acknowledged (points.h, LogPosition).
  using Position = uint64_t;

  /// Appends all of them. `known` false: at least one spelling was never accepted, and nothing was
  /// done (take the named way for the whole batch). Busy, Unavailable as Points::Append, after
  /// which some may be there. Never blocks on I/O.
  struct Appended {
    bool known = true;
    Position position = 0;
  };
  virtual Result<Appended> AppendSpelled(std::span<const SpelledPoint> points) = 0;

  /// As AppendSpelled, but spellings that were never accepted are taken apart and go the named way,
  /// where nothing in them is out of the ordinary (of other dialects than kJson and kWords all is).
  /// `known` false: something is, and the named way must judge. Blocks: pool threads and tools
  /// only.
  virtual Result<Appended> AppendLearning(std::span<const SpelledPoint> points) {
    (void)points;
    return Appended{.known = false, .position = 0};
  }

  /// As AppendSpelled, of lines whose fields stand one behind the other in `fields`. What
  /// AppendNamed accepted as Dialect::kInflux is known.
  virtual Result<Appended> AppendLines(std::span<const SpelledLine> lines,
                                       std::span<const SpelledField> fields) {
    (void)lines, (void)fields;
    return Appended{.known = false, .position = 0};
  }

  /// Checks each point in order (spec http-api.md §8.2 rows 8–11: time, number of tags, names,
  /// unknown names; the value is finite), assigns ids where allowed, and appends the good ones
  /// together. (*results)[i] is the point's own verdict:
  ///   InvalidArgument  the text OpenTSDB gives ("Invalid metric name (…)", "bad timestamp=…", …)
  ///   NotFound         "No such name for 'metrics': 'x'" where automatic creation is off
  ///   other            storage refused (Busy: over the budget)
  /// The position covers every point whose verdict is ok. Blocks: pool threads and tools only.
  virtual Position AppendNamed(std::span<const NamedPoint> points,
                               std::vector<Status>* results) = 0;

  /// Points::Commit.
  virtual void Commit(Position position, std::function<void(Status)> done) = 0;

  /// Names were renamed or deleted: no spelling may be trusted any more.
  virtual void ForgetSpellings() = 0;
};

}  // namespace hg
