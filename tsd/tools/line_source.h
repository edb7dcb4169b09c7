#pragma once
// Reads the lines of a file, of a gzip file, or of a stream.

#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::tsd {

/// A source of lines. It is not thread-safe.
class LineSource {
 public:
  virtual ~LineSource() = default;

  /// Opens a file. If the path ends in ".gz", the file is decompressed. The path "-" means
  /// `standard_input`, which must outlive the object. IoError: the file cannot be read. Corruption:
  /// the path ends in ".gz", but the file is not compressed.
  static Result<std::unique_ptr<LineSource>> Open(const std::string& path,
                                                  std::istream& standard_input);

  /// Reads the next line without its line end (LF or CRLF). Returns false at the end of the file.
  /// The view is valid until the next call. Fails with IoError, and with Corruption if compressed
  /// data is damaged.
  Result<bool> Next(std::string_view* line);

 protected:
  /// Reads up to `size` bytes and returns the number of bytes that were read; 0 = the end of the
  /// file.
  virtual Result<size_t> Read(char* into, size_t size) = 0;

 private:
  static constexpr size_t kChunkBytes = 1 << 16;

  std::string buffer_;
  size_t begin_ = 0;     // position in buffer_ of the first byte that was not returned yet
  size_t searched_ = 0;  // buffer_ has no newline from begin_ up to this position
  bool at_end_ = false;
};

}  // namespace hg::tsd
