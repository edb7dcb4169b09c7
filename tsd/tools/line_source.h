#pragma once
// Reads lines of a file, of a gzip file, or of a stream.

#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::tsd {

/// Not thread-safe.
class LineSource {
 public:
  virtual ~LineSource() = default;

  /// Opens a file. A path ending in ".gz" is decompressed, and "-" means `standard_input`, which
  /// must outlive the object. IoError: the file cannot be read. Corruption: the file is not
  /// compressed although its name says so.
  static Result<std::unique_ptr<LineSource>> Open(const std::string& path,
                                                  std::istream& standard_input);

  /// Reads the next line without its end (LF or CRLF). Returns false at the end. The view is valid
  /// until the next call. Returns IoError, and Corruption for damaged compressed data.
  Result<bool> Next(std::string_view* line);

 protected:
  /// Reads up to `size` bytes and returns how many it has read; 0 at the end.
  virtual Result<size_t> Read(char* into, size_t size) = 0;

 private:
  static constexpr size_t kChunkBytes = 1 << 16;

  std::string buffer_;
  size_t begin_ = 0;     // first byte that was not returned yet
  size_t searched_ = 0;  // buffer_ has no newline between begin_ and this position
  bool at_end_ = false;
};

}  // namespace hg::tsd
