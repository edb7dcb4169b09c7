#pragma once
// A body of InfluxDB's lines, the fast way: finds series, names of fields and numbers in place. It
// takes regular bodies only; whoever gets a "no" asks influx_line.h, which agrees with it.

#include <string_view>
#include <vector>

#include "http/wire/influx_line.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// What a body holds; borrows its bytes.
struct InfluxPoints {
  std::vector<SpelledLine> lines;
  std::vector<SpelledField> fields;
  size_t text_fields = 0;  // that were left out

  void Clear() {
    lines.clear();
    fields.clear();
    text_fields = 0;
  }
};

/// Replaces *points by those of the body. `now`: the time of lines without one. False: something in
/// it is not plain (an escape, a syntax error, a number out of the ordinary, a time that is not
/// stored); *points is then meaningless. Whether a field stands twice in a line is not looked at
/// here: such a line was never accepted, so that the table of accepted ones must tell.
bool ParseInfluxLines(std::string_view body, InfluxUnit unit, Timestamp now, InfluxPoints* points);

}  // namespace hg::http
