#pragma once
// The fast path for InfluxDB line protocol. It finds raw series keys, field names and numbers in
// place. ParseInfluxLines accepts only regular bodies. For all other bodies, callers use
// influx_line.h. For a regular body, both parsers return the same points.

#include <string_view>
#include <vector>

#include "http/wire/influx_line.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// The points of a body. Their texts are views of the bytes of the body.
struct InfluxPoints {
  std::vector<KeyedLine> lines;
  std::vector<KeyedField> fields;
  size_t text_fields = 0;  // number of fields whose value is text; such fields are skipped

  void Clear() {
    lines.clear();
    fields.clear();
    text_fields = 0;
  }
};

/// Replaces *points by the points of the body. `now` is the time for points of lines without a
/// time.
///
/// Returns false if the body is not regular; *points then has no meaning. A body is not regular if
/// it has, for example, an escaped blank, an escape in a field, a line with only text fields, a
/// syntax error, an unusual number, or a time outside the valid range.
///
/// The function detects neither a field that occurs twice in a line nor a series with a line break.
/// PointSink::AppendLines treats such a line as unknown, so the slow path gets the body.
bool ParseInfluxLines(std::string_view body, InfluxUnit unit, Timestamp now, InfluxPoints* points);

}  // namespace hg::http
