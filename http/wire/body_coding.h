#pragma once
// Decompresses request bodies and compresses replies with gzip and deflate (opentsdb-http-api.md
// §2.2).

#include <memory>
#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

/// The maximum compressed size in bytes of a body that an event loop decompresses. The slowest body
/// of this size takes about 20 ms.
inline constexpr size_t kUnpackedOnLoopBytes = 128 << 10;
/// The maximum compressed size in bytes of a body that is decompressed in one piece. A larger body
/// is decompressed piece by piece, which takes about twice as long. Decompressing the slowest body
/// of this size takes about half a second, and its request cannot be ended during this time.
inline constexpr size_t kUnpackedAtOnceBytes = 4 << 20;

/// Decompresses `coded` into *out, and allocates `padding` unused bytes after the end of *out.
/// `coding` must not be kNone. The time is linear in the sizes of input and output. The memory is
/// charged to `memory` before it is allocated, and stays charged; if charging fails, the function
/// returns the error of `memory`. If the body is decompressed piece by piece, the function checks
/// `context` after each piece and returns its error.
///
/// InvalidArgument: the body is damaged or truncated. LimitExceeded: the result would be larger
/// than bytes_max.
Status UnpackBody(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory, RequestContext& context);

/// Decompresses a body in one piece, without checking whether the request was ended. Returns true
/// only if the body is a single gzip member of at most kUnpackedAtOnceBytes bytes, if the
/// decompressed size that the member states is correct and at most bytes_max, and if `memory` has
/// enough memory. If the result is false, the caller must call UnpackBody.
bool UnpackAtOnce(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory);

/// Compresses a reply piece by piece. Only one thread at a time may use the object.
class BodyPacker {
 public:
  explicit BodyPacker(ContentCoding coding);
  ~BodyPacker();

  /// Compresses `bytes`, and appends the compressed bytes that are ready to *out. If `last` is
  /// true, this call ends the compressed stream.
  void Pack(std::string_view bytes, bool last, std::string* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
