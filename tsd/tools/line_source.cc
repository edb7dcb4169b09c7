#include "tsd/tools/line_source.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace hg::tsd {
namespace {

class StreamSource : public LineSource {
 public:
  explicit StreamSource(std::istream& in) : in_(in) {}

 protected:
  Result<size_t> Read(char* into, size_t size) override {
    in_.read(into, static_cast<std::streamsize>(size));
    if (in_.bad()) return Status::IoError("cannot read on");
    return static_cast<size_t>(in_.gcount());
  }

 private:
  std::istream& in_;
};

class FileSource : public StreamSource {
 public:
  explicit FileSource(std::unique_ptr<std::ifstream> file)
      : StreamSource(*file), file_(std::move(file)) {}

 private:
  std::unique_ptr<std::ifstream> file_;
};

class GzipSource : public LineSource {
 public:
  explicit GzipSource(gzFile file) : file_(file) {}
  ~GzipSource() override { gzclose(file_); }

 protected:
  Result<size_t> Read(char* into, size_t size) override {
    const int n = gzread(file_, into, static_cast<unsigned>(size));
    int error = Z_OK;
    const char* why = gzerror(file_, &error);
    // For a truncated file, gzread returns the data it could decompress. Only gzerror reports the
    // truncation.
    if (n < 0 || error == Z_BUF_ERROR || error == Z_DATA_ERROR)
      return Status::Corruption(std::string("gzip: ") + why);
    return static_cast<size_t>(n);
  }

 private:
  gzFile file_;
};

Status CannotRead(const std::string& path) {
  return Status::IoError("cannot read " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<LineSource>> LineSource::Open(const std::string& path,
                                                     std::istream& standard_input) {
  if (path == "-") return std::unique_ptr<LineSource>(new StreamSource(standard_input));
  if (path.ends_with(".gz")) {
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return CannotRead(path);
    // zlib returns uncompressed files unchanged. OpenTSDB rejects them.
    if (gzdirect(file) != 0) {
      gzclose(file);
      return Status::Corruption(path + " is not a gzip file");
    }
    return std::unique_ptr<LineSource>(new GzipSource(file));
  }
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) return CannotRead(path);
  return std::unique_ptr<LineSource>(new FileSource(std::move(file)));
}

Result<bool> LineSource::Next(std::string_view* line) {
  while (true) {
    const size_t end = buffer_.find('\n', searched_);
    const bool found = end != std::string::npos;
    if (found || (at_end_ && begin_ < buffer_.size())) {
      const size_t stop = found ? end : buffer_.size();
      *line = std::string_view(buffer_).substr(begin_, stop - begin_);
      if (line->ends_with('\r')) line->remove_suffix(1);
      begin_ = searched_ = found ? stop + 1 : stop;
      return true;
    }
    if (at_end_) return false;
    buffer_.erase(0, begin_);
    begin_ = 0;
    searched_ = buffer_.size();
    buffer_.resize(searched_ + kChunkBytes);
    Result<size_t> n = Read(buffer_.data() + searched_, kChunkBytes);
    buffer_.resize(searched_ + (n.ok() ? *n : 0));
    if (!n.ok()) return n.status();
    at_end_ = *n == 0;
  }
}

}  // namespace hg::tsd
