#pragma once
// The interface that accepts parsed points. The put, telnet and import code calls it, and
// tsd/ingest implements it. A KeyedPoint identifies its series by the raw bytes that the client
// sent. If these bytes were accepted before, the point costs one hash look-up. A NamedPoint
// contains decoded names. The sink checks these names, assigns ids and registers the series.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"
#include "storage/model/write_context.h"

namespace hg {

/// The format in which a client wrote a series: the same bytes may mean different series in two of
/// them. The file of tag formats contains these numbers, so a new value must be the last one.
enum class Dialect : uint8_t { kJson, kWords, kInflux, kLabels, kGraphite };

/// The raw series key: the bytes that name a series in a request. The object does not own the
/// bytes. Which bytes these are depends on the dialect:
/// - kJson: the text between the quotes of "metric", and the tags object with its braces. Trailing
///   blanks are cut and nothing is decoded.
/// - kWords (telnet, import): the metric word as `metric`, and everything after the blank that
///   follows the value, up to the end of the line, as `tags`.
/// - kInflux: the field name as `metric`, and the text before the first blank of the line
///   (measurement and tags) as `tags`.
/// - kLabels (remote write, OTLP): metric and labels as sent, before they are converted to names.
///   Only the code that made the key can parse it (http/wire/series_labels.h).
/// - kGraphite: the path up to the first ';' as `metric`, and the rest as `tags`.
struct RawKey {
  Dialect dialect = Dialect::kJson;
  std::string_view metric;
  std::string_view tags;
};

/// A point whose value was parsed successfully. The time is in range (Timestamp::in_range) and
/// above 0. A value of Dialect::kLabels may be a NaN or an infinity; values of all other dialects
/// are finite.
struct KeyedPoint {
  RawKey series;
  Timestamp time;
  PointValue value;
};

/// A line of the InfluxDB line protocol. All points of the line have one time, and their series
/// have the same measurement and tags. Values and time have the same limits as in KeyedPoint. The
/// object does not own its texts.
struct KeyedLine {
  std::string_view series;  // the text of the line before the first blank
  Timestamp time;
  // The number of fields of the line, at least 1. The fields of a line are consecutive in the
  // batch.
  uint32_t fields = 0;
};
struct KeyedField {
  std::string_view name;
  PointValue value;
};

struct TagText {
  std::string_view key;
  std::string_view value;
  bool null_value = false;  // whether the value is JSON null, for which there is a separate error
};

/// A point with UTF-8 names that were not checked yet. The tags are in the order in which they get
/// ids. For OpenTSDB's protocols, this is the iteration order of OpenTSDB's hash map (java_hash.h).
struct NamedPoint {
  std::string_view metric;
  std::span<const TagText> tags;
  Timestamp time;
  PointValue value;
  /// The raw series key. If the point is accepted, the sink remembers this key for AppendKeyed. The
  /// sink does not remember a key whose metric is empty. The dialect determines the limit for the
  /// number of tags.
  RawKey raw_key;
};

/// Accepts parsed points. Thread-safe.
class PointSink {
 public:
  virtual ~PointSink() = default;

  /// A log position. Commit must reach it before the points may be acknowledged (points.h,
  /// LogPosition).
  using Position = uint64_t;

  /// AppendKeyed appends all points. It sets `known` to false if the sink does not know one of the
  /// raw series keys, if the store has forgotten a series because the series had no rows left, or
  /// if the store would have to wait for a disk (Points::AppendMayWait). The caller then passes the
  /// whole batch to AppendNamed. Some points may already be stored if a series was forgotten. Like
  /// Points::Append, AppendKeyed fails with Busy or Unavailable; some points may be stored in this
  /// case. It never blocks on I/O.
  struct Appended {
    bool known = true;
    Position position = 0;
  };
  virtual Result<Appended> AppendKeyed(std::span<const KeyedPoint> points,
                                       WriteContext& context) = 0;

  /// AppendLearning works like AppendKeyed, but also parses unknown series keys and registers their
  /// series. It handles only ordinary keys of kJson and kWords, and stops at the first other key.
  /// It checks the context's request every few points, and stops if the check fails. The points
  /// before the stop are stored, so each new series has a point. The function blocks, so only pool
  /// threads and tools may call it.
  struct Learned {
    size_t stored = 0;  // number of points that are stored, from the first on
    Position position = 0;
    /// If ok, the caller passes the points that are not stored to AppendNamed. If not ok, the
    /// reason why these points are not stored: the failure of the request, or a failure as in
    /// AppendKeyed.
    Status refused;
  };
  virtual Learned AppendLearning(std::span<const KeyedPoint> points, WriteContext& context) {
    (void)points, (void)context;
    return {};
  }

  /// Appends the points of lines of the InfluxDB line protocol, like AppendKeyed. `fields` has the
  /// fields of all lines, in order. A series is known after AppendNamed has accepted it with
  /// Dialect::kInflux.
  virtual Result<Appended> AppendLines(std::span<const KeyedLine> lines,
                                       std::span<const KeyedField> fields, WriteContext& context) {
    (void)lines, (void)fields, (void)context;
    return Appended{.known = false, .position = 0};
  }

  /// AppendNamed checks each point in order (opentsdb-http-api.md §8.2 rows 8–11): time, number of
  /// tags, names, unknown names, finite value. It assigns ids where allowed and appends the
  /// accepted points together. (*results)[i] is the result of point i:
  ///   InvalidArgument  the message of OpenTSDB ("Invalid metric name (…)", "bad timestamp=…", …)
  ///   NotFound         "No such name for 'metrics': 'x'" if automatic creation is off
  ///   Exhausted        there is no memory for new series and names; known series still work
  ///   other            the store rejected the point (Busy: memory limit exceeded)
  /// It checks the context's request every few points. If the check fails, the failure is the
  /// result of the current point and of all later points; earlier points are stored. The returned
  /// position covers every accepted point. The function blocks, so only pool threads and tools may
  /// call it.
  virtual Position AppendNamed(std::span<const NamedPoint> points, WriteContext& context,
                               std::vector<Status>* results) = 0;

  /// Returns ok if other data than points, such as an annotation, may be stored in rows of a
  /// series. `tsuid` has complete tag pairs; its UIDs may have no names. If the number of series is
  /// limited and the series is new, the function creates the series and counts it. InvalidArgument:
  /// the TSUID has more tags than points of any protocol may have, a limit on series is reached, or
  /// the number of series is limited and the metric of the new series has no name. Also returns the
  /// errors of the store and of the context's request. The function blocks.
  virtual Status AdmitSeries(ByteView tsuid, WriteContext& context) {
    return (void)tsuid, (void)context, Status();
  }

  /// Makes points durable. Commit has the same contract as Points::Commit.
  virtual void Commit(Position position, std::function<void(Status)> done) = 0;

  /// Forgets all raw series keys. Call this function when names were renamed or deleted.
  virtual void ForgetRawKeys() = 0;

  /// Returns the maximum number of tags of a point. A point of a protocol other than OpenTSDB's is
  /// rejected if it has more tags, so the parsers of these protocols need not prepare such a point.
  [[nodiscard]] virtual size_t tags_max() const { return SIZE_MAX; }
};

}  // namespace hg
