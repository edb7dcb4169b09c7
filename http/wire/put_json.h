#pragma once
// The fast path for the body of /api/put (ingest-measurements.md §4). The parser finds the raw
// bytes of metrics, tags, times and values in place, and decodes no strings. It accepts only
// regular bodies. For all other bodies, callers use put_document.h.

#include <memory>
#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// The number of bytes that must be allocated after the end of a body before it is parsed. These
/// bytes need not be initialized.
inline constexpr size_t kPutPadding = 64;

/// The parser of the fast path. It keeps working memory of at most some megabytes between calls.
/// Only one thread at a time may use a parser.
class PutJsonParser {
 public:
  PutJsonParser();
  ~PutJsonParser();

  /// Replaces *points by the points of the body, whose texts are views of the bytes of the body.
  /// The body must be in writable memory, because the parser changes separators of a long body and
  /// restores them. Returns false if the body is not regular; *points then has no meaning. A body
  /// is not regular if it has, for example, a syntax error, an unknown or duplicate field, or an
  /// unusual number.
  bool Parse(std::string_view body, std::vector<KeyedPoint>* points);

  /// Finds the raw series key of each element of the array (or of the single object), as far as the
  /// body can be parsed. If the metric and the tags of an element cannot be found reliably, the
  /// metric of its raw series key is "".
  void ParseRawKeys(std::string_view body, std::vector<RawKey>* raw_keys);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
