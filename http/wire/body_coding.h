#pragma once
// Gzip and deflate (opentsdb-http-api.md §2.2): decompresses request bodies, compresses replies.

#include <memory>
#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

/// The largest body that an event loop unpacks. The slowest body of this size takes about 20 ms.
inline constexpr size_t kUnpackedOnLoopBytes = 128 << 10;
/// Larger bodies are unpacked piece by piece, which takes about twice as long. The slowest body of
/// this size takes about half a second, in which its request cannot be ended.
inline constexpr size_t kUnpackedAtOnceBytes = 4 << 20;

/// Unpacks `coded` into *out, and allocates `padding` unused bytes after its end. `coding` is not
/// kNone. InvalidArgument: damaged or truncated. LimitExceeded: more than bytes_max. The memory is
/// first charged to `memory`, and stays charged; if that fails, returns its error. The time is
/// linear in the sizes of input and output. Checks `context` after each piece of a body that is not
/// unpacked at once, and returns its error.
Status UnpackBody(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory, RequestContext& context);

/// Like UnpackBody, but the end of the request does not interrupt it. Unpacks only a body that is
/// one gzip member whose stored unpacked size is at most kUnpackedAtOnceBytes. Returns false for
/// other bodies, and if `memory` refuses. If it returns false, the caller must call UnpackBody.
bool UnpackAtOnce(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory);

/// Compresses a reply piece by piece. Use on one thread at a time.
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
