#pragma once
// The body of /api/put, the fast way: finds the raw bytes of metric and tags, times and values in
// place, decodes nothing (spec ingest-measurements.md §4). It takes regular bodies only; whoever
// gets a "no" asks put_document.h.

#include <memory>
#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Bytes that must be allocated (not set) behind a body that is parsed.
inline constexpr size_t kPutPadding = 64;

/// Holds some megabytes at most. One thread at a time.
class PutJsonParser {
 public:
  PutJsonParser();
  ~PutJsonParser();

  /// Replaces *points by those of the body, which borrow its bytes; the body's memory is writable
  /// (separators of a long one are changed and put back). False: something in it is not plain (a
  /// syntax error, an unknown or repeated field, a number out of the ordinary, …); *points is then
  /// meaningless.
  bool Parse(std::string_view body, std::vector<SpelledPoint>* points);

  /// The spelling of each array element (or of the one object), as far as the body can be walked;
  /// an element whose metric and tags cannot be told apart safely has an empty metric.
  void ParseSpellings(std::string_view body, std::vector<Spelling>* spellings);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
