#pragma once
// Gzip and deflate (opentsdb-http-api.md §2.2): decompresses request bodies, compresses replies.

#include <memory>
#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// Decompresses `coded` into *out, and allocates `padding` unused bytes after its end. `coding`
/// must not be kNone. InvalidArgument: damaged or truncated. LimitExceeded: more than bytes_max.
/// Charges the memory to `memory` first, and keeps it charged; if that fails, returns its error.
Status UnpackBody(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory);

/// Compresses a reply piece by piece. For one thread at a time.
class BodyPacker {
 public:
  explicit BodyPacker(ContentCoding coding);
  ~BodyPacker();

  /// Appends those compressed bytes to *out that are ready. `last` ends the stream.
  void Pack(std::string_view bytes, bool last, std::string* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
