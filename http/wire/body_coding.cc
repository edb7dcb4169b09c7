#include "http/wire/body_coding.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "storage/base/invariant.h"

namespace hg::http {
namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

/// Returns a first guess of the unpacked size: the size that gzip stores in its last four bytes;
/// for other codings four times the input.
size_t GuessSize(ContentCoding coding, std::string_view coded, size_t bytes_max) {
  size_t guess = coded.size() * 4;
  if (coding == ContentCoding::kGzip && coded.size() >= 18) {
    uint32_t size = 0;  // little-endian, as on this machine
    std::memcpy(&size, coded.data() + coded.size() - 4, 4);
    // Deflate compresses at most 1032 to 1; a larger stored size is wrong.
    guess = std::min<size_t>(size, coded.size() * 1032);
  }
  return std::clamp<size_t>(guess, 64, bytes_max);
}

libdeflate_result Unpack(libdeflate_decompressor* d, ContentCoding coding, std::string_view coded,
                         char* out, size_t capacity, size_t* used, size_t* written) {
  if (coding == ContentCoding::kGzip) {
    return libdeflate_gzip_decompress_ex(d, coded.data(), coded.size(), out, capacity, used,
                                         written);
  }
  libdeflate_result result =
      libdeflate_zlib_decompress_ex(d, coded.data(), coded.size(), out, capacity, used, written);
  if (result != LIBDEFLATE_BAD_DATA) return result;
  // Some clients send "deflate" without the zlib wrapper.
  return libdeflate_deflate_decompress_ex(d, coded.data(), coded.size(), out, capacity, used,
                                          written);
}

}  // namespace

Status UnpackBody(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory) {
  // A scratch buffer of the thread, which takes several pages. Its content does not outlive a call.
  static thread_local std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor;
  if (decompressor == nullptr) decompressor.reset(libdeflate_alloc_decompressor());
  if (decompressor == nullptr) throw std::bad_alloc();
  out->clear();
  RequestMemory::Room room(memory);
  size_t size = 0;
  // A gzip body may consist of several members.
  while (!coded.empty()) {
    size_t capacity = std::min(size + GuessSize(coding, coded, bytes_max), bytes_max);
    for (;;) {
      RETURN_IF_ERROR(room.Grow(capacity + padding));
      out->resize(capacity + padding);
      size_t used = 0, written = 0;
      const libdeflate_result result = Unpack(decompressor.get(), coding, coded, out->data() + size,
                                              capacity - size, &used, &written);
      if (result == LIBDEFLATE_SUCCESS) {
        coded.remove_prefix(used);
        size += written;
        break;
      }
      if (result != LIBDEFLATE_INSUFFICIENT_SPACE) {
        return Status::InvalidArgument(std::string("The body cannot be unpacked: its ") +
                                       (coding == ContentCoding::kGzip ? "gzip" : "deflate") +
                                       " data is damaged or cut short");
      }
      if (capacity == bytes_max) {
        return Status::LimitExceeded("the body unpacks to more than " + std::to_string(bytes_max) +
                                     " bytes");
      }
      capacity = std::min(bytes_max, capacity * 4);
    }
    if (coding != ContentCoding::kGzip) break;
  }
  out->resize(size);  // the capacity still includes the padding
  out->reserve(size + padding);
  room.Keep();
  return {};
}

struct BodyPacker::Impl {
  z_stream stream{};
};

BodyPacker::BodyPacker(ContentCoding coding) : impl_(std::make_unique<Impl>()) {
  // The compression level. JSON of numbers becomes nearly as small as with level 6, in a fifth of
  // the time.
  constexpr int kLevel = 1;
  constexpr int kGzipWindow = 15 + 16, kZlibWindow = 15;
  const int ok = deflateInit2(&impl_->stream, kLevel, Z_DEFLATED,
                              coding == ContentCoding::kGzip ? kGzipWindow : kZlibWindow, 8,
                              Z_DEFAULT_STRATEGY);
  INVARIANT(ok == Z_OK);
}

BodyPacker::~BodyPacker() { deflateEnd(&impl_->stream); }

void BodyPacker::Pack(std::string_view bytes, bool last, std::string* out) {
  z_stream& stream = impl_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  for (;;) {
    constexpr size_t kRoom = 16384;
    const size_t before = out->size();
    out->resize(before + kRoom);
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + before);
    stream.avail_out = kRoom;
    const int result = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    out->resize(before + kRoom - stream.avail_out);
    if (result == Z_STREAM_END || (!last && stream.avail_out != 0)) return;
    INVARIANT(result == Z_OK || result == Z_BUF_ERROR);
  }
}

}  // namespace hg::http
