#pragma once
// The fast path for the body of /api/put (ingest-measurements.md §4). The parser finds the raw
// bytes of metric and tags, times and values in place and decodes nothing. It accepts only regular
// bodies. For other bodies, callers use put_document.h.

#include <memory>
#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Number of bytes to allocate (not to initialize) after the end of a body that is parsed.
inline constexpr size_t kPutPadding = 64;

/// Keeps at most some megabytes of working memory between calls. Use on one thread at a time.
class PutJsonParser {
 public:
  PutJsonParser();
  ~PutJsonParser();

  /// Replaces *points by the points of the body, which are views of its bytes. The body must be in
  /// writable memory: the parser changes separators of a long body and restores them. Returns false
  /// if the body is not regular (a syntax error, an unknown or duplicate field, an unusual number,
  /// …); *points then has no meaning.
  bool Parse(std::string_view body, std::vector<KeyedPoint>* points);

  /// Finds the raw series key of each array element (or of the single object), as far as the body
  /// can be parsed. If metric and tags of an element cannot be found reliably, its metric is "".
  void ParseRawKeys(std::string_view body, std::vector<RawKey>* raw_keys);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
