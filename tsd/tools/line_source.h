#pragma once
// Lines of a file, of a gzip file, or of a stream.

#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::tsd {

/// One thread at a time.
class LineSource {
 public:
  virtual ~LineSource() = default;

  /// A path ending in ".gz" is unpacked, "-" is `standard_input` (borrowed). IoError: cannot be
  /// read. Corruption: not packed, though its name says so.
  static Result<std::unique_ptr<LineSource>> Open(const std::string& path,
                                                  std::istream& standard_input);

  /// The next line without its end, LF or CRLF; false at the end. The view lives until the next
  /// call. IoError, and Corruption of packed data.
  Result<bool> Next(std::string_view* line);

 protected:
  /// Fills up to `size` bytes; 0 at the end.
  virtual Result<size_t> Read(char* into, size_t size) = 0;

 private:
  static constexpr size_t kChunkBytes = 1 << 16;

  std::string buffer_;
  size_t begin_ = 0;     // first byte not given yet
  size_t searched_ = 0;  // no line end before this one
  bool at_end_ = false;
};

}  // namespace hg::tsd
