#pragma once
// The fast path for InfluxDB line protocol: finds raw series keys, field names and numbers in
// place. ParseInfluxLines accepts only regular bodies. For other bodies, callers use influx_line.h,
// which returns the same results.

#include <string_view>
#include <vector>

#include "http/wire/influx_line.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// The points of a body, as views of its bytes.
struct InfluxPoints {
  std::vector<KeyedLine> lines;
  std::vector<KeyedField> fields;
  size_t text_fields = 0;  // number of text fields, which are skipped

  void Clear() {
    lines.clear();
    fields.clear();
    text_fields = 0;
  }
};

/// Replaces *points by the points of the body. `now` is the time for points of lines without a
/// time. Returns false if the body is not regular (an escape, a syntax error, an unusual number, a
/// time outside the valid range); *points then has no meaning. Does not detect a field that occurs
/// twice in a line. No point of this line can be stored, because the complete decoder rejects the
/// line, so no raw series key of the line is ever known.
bool ParseInfluxLines(std::string_view body, InfluxUnit unit, Timestamp now, InfluxPoints* points);

}  // namespace hg::http
