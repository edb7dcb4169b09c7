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

/// Deflate compresses at most 1032 to 1.
constexpr size_t kRatioMax = 1032;

/// Returns the unpacked size that gzip stores in its last four bytes, or 0 if it cannot be right.
size_t StoredSize(std::string_view coded) {
  constexpr size_t kGzipBytesMin = 18;
  if (coded.size() < kGzipBytesMin) return 0;
  uint32_t size = 0;  // little-endian, as on this machine
  std::memcpy(&size, coded.data() + coded.size() - sizeof size, sizeof size);
  return size <= coded.size() * kRatioMax ? size : 0;
}

/// The window bits by which zlib selects the format. Some clients send "deflate" without the zlib
/// wrapper.
int WindowBits(ContentCoding coding, std::string_view coded) {
  if (coding == ContentCoding::kGzip) return MAX_WBITS + 16;
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<uint8_t>(coded[i])); };
  const bool wrapped = coded.size() >= 2 && (byte(0) & 0x0F) == Z_DEFLATED &&
                       (byte(0) >> 4) + 8 <= MAX_WBITS && (byte(0) << 8 | byte(1)) % 31 == 0;
  return wrapped ? MAX_WBITS : -MAX_WBITS;
}

/// The state of zlib's decompressor.
class Inflater {
 public:
  explicit Inflater(int window_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

/// Unpacks a body in pieces of at most kPieceBytes. Checks `context` after each piece and charges
/// the growth of *out to `room`.
Status UnpackPieces(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                    std::string* out, RequestMemory::Room* room, RequestContext& context) {
  // Maximum bytes of input, and of output, of one piece.
  constexpr size_t kPieceBytes = 64 << 10;
  constexpr size_t kFirstBytes = 1024;
  const auto damaged = [coding] {
    return Status::InvalidArgument(std::string("The body cannot be unpacked: its ") +
                                   (coding == ContentCoding::kGzip ? "gzip" : "deflate") +
                                   " data is damaged or cut short");
  };
  Inflater inflater(WindowBits(coding, coded));
  z_stream& stream = inflater.stream();
  // A body that unpacks to bytes_max + 1 bytes is too large, so the rest need not be unpacked.
  const size_t capacity_max = bytes_max + 1;
  size_t capacity = std::min(kFirstBytes + coded.size() * 4, capacity_max);
  size_t size = 0, unchecked = 0;
  bool between_members = true;  // a gzip body may have several members
  while (!coded.empty() || !between_members) {
    if (unchecked >= kPieceBytes) {
      RETURN_IF_ERROR(context.Check());
      unchecked = 0;
    }
    if (size == capacity) capacity = std::min(capacity * 2, capacity_max);
    if (out->size() < capacity + padding) {
      RETURN_IF_ERROR(room->Grow(capacity + padding));
      out->resize(capacity + padding);
    }
    const size_t in = std::min(coded.size(), kPieceBytes);
    const size_t space = std::min(capacity - size, kPieceBytes);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + size);
    stream.avail_out = static_cast<uInt>(space);
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    const size_t used = in - stream.avail_in, written = space - stream.avail_out;
    coded.remove_prefix(used);
    size += written;
    unchecked += used + written;
    if (size > bytes_max) {
      return Status::LimitExceeded("the body unpacks to more than " + std::to_string(bytes_max) +
                                   " bytes");
    }
    between_members = result == Z_STREAM_END;
    if (between_members) {
      if (coding != ContentCoding::kGzip) break;
      inflateReset(&stream);
    } else if (result != Z_OK || used + written == 0) {
      return damaged();
    }
  }
  out->resize(size);  // the capacity still includes the padding
  return {};
}

}  // namespace

bool UnpackAtOnce(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory) {
  if (coding != ContentCoding::kGzip || coded.size() > kUnpackedAtOnceBytes) return false;
  const size_t size = StoredSize(coded);
  if (size == 0 || size > bytes_max) return false;
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (decompressor == nullptr) throw std::bad_alloc();
  RequestMemory::Room room(memory);
  if (!room.Grow(size + padding).ok()) return false;
  out->clear();
  out->resize(size + padding);
  size_t used = 0, written = 0;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(
      decompressor.get(), coded.data(), coded.size(), out->data(), size, &used, &written);
  if (result != LIBDEFLATE_SUCCESS || used != coded.size() || written != size) {
    std::string().swap(*out);
    return false;
  }
  out->resize(size);  // the capacity still includes the padding
  room.Keep();
  return true;
}

Status UnpackBody(ContentCoding coding, std::string_view coded, size_t bytes_max, size_t padding,
                  std::string* out, RequestMemory::Share* memory, RequestContext& context) {
  if (UnpackAtOnce(coding, coded, bytes_max, padding, out, memory)) return {};
  if (memory != nullptr) RETURN_IF_ERROR(memory->refusal());
  out->clear();
  RequestMemory::Room room(memory);
  RETURN_IF_ERROR(UnpackPieces(coding, coded, bytes_max, padding, out, &room, context));
  out->reserve(out->size() + padding);
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
  if (ok == Z_MEM_ERROR) throw std::bad_alloc();
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
