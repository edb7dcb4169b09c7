#include "http/wire/snappy_block.h"

#include <snappy.h>

namespace hg::http {
namespace {

/// Three bytes of a block encode at most 64 bytes. A block that claims a larger ratio is damaged,
/// and no memory is allocated for it.
constexpr size_t kExpansionMax = 22;

Status Damaged() { return Status::InvalidArgument("The body is not a block of the snappy format"); }

}  // namespace

Status UnpackSnappy(std::string_view packed, uint64_t bytes_max, std::string* out,
                    RequestMemory::Share* memory) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &size)) return Damaged();
  if (size / kExpansionMax > packed.size()) return Damaged();
  if (size > bytes_max) {
    return Status::LimitExceeded("The request's body unpacks to " + std::to_string(size) +
                                 " bytes, which is more than " + std::to_string(bytes_max));
  }
  RequestMemory::Room room(memory);
  RETURN_IF_ERROR(room.Grow(size));
  out->resize(size);
  if (!snappy::RawUncompress(packed.data(), packed.size(), out->data())) return Damaged();
  room.Keep();
  return {};
}

size_t PackedSnappyBytesMax(size_t bytes) { return snappy::MaxCompressedLength(bytes); }

std::string PackSnappy(std::string_view bytes) {
  std::string packed;
  snappy::Compress(bytes.data(), bytes.size(), &packed);
  return packed;
}

}  // namespace hg::http
