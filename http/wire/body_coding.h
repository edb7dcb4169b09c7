#pragma once
// gzip and deflate: whole request bodies in, replies out (spec http-api.md §2.2).

#include <memory>
#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "storage/base/status.h"

namespace hg::http {

/// Unpacks `coded` into *out with `padding` unused bytes allocated behind. InvalidArgument: damaged
/// or cut short. LimitExceeded: more than bytes_max. coding is not kNone. The room is asked of this
/// thread's share (request_memory.h) before it is taken, which holds it then: as it refuses it.
Status UnpackBody(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out);

/// Packs a reply piece by piece. One thread at a time.
class BodyPacker {
 public:
  explicit BodyPacker(ContentCoding coding);
  ~BodyPacker();

  /// Appends what is ready to *out; `last` ends the stream.
  void Pack(std::string_view bytes, bool last, std::string* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::http
