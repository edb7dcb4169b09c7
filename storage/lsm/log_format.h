#pragma once
// The byte layout of log files (FORMAT.md "Log"): file header and record header. All numbers are
// little-endian.

#include <cstdint>
#include <cstring>
#include <string>

#include "storage/base/bytes.h"
#include "storage/base/crc32c.h"

namespace hg::lsm {

/// A position in the log: the total number of bytes of all earlier records since the store was
/// created. Each record adds the length of its header and its body.
using LogPosition = uint64_t;

/// The magic of a log file without its last byte, which is the version of the file.
inline constexpr char kLogMagic[8] = "HGLOG\0\0";
inline constexpr size_t kLogMagicBytes = 7;
inline constexpr char kLogVersion = 2;
inline constexpr size_t kLogFileHeaderBytes = 44;  // size of the header in version kLogVersion
inline constexpr size_t kLogKeyOffset = 32;        // offset of the encoded LogFileHeader::key
/// Files of version 1 have a shorter header without a key. No program writes them any more.
inline constexpr char kLogVersionWithoutKey = 1;
inline constexpr size_t kLogFileHeaderBytesWithoutKey = 36;
inline constexpr size_t kLogRecordHeaderBytes = 29;
// The following constants are offsets of fields in an encoded LogRecordHeader.
inline constexpr size_t kLogSequenceOffset = 8;
inline constexpr size_t kLogSyncedOffset = 16;
inline constexpr size_t kLogKindOffset = 24;

struct LogFileHeader {
  // Number of this log file. Until a recycled file is started again, it still has its older number.
  uint64_t number = 0;
  LogPosition start = 0;   // position of the first record of the file
  LogPosition synced = 0;  // position that was known to be durable when the file was started
  /// The checksums of record headers begin with the key. The key is random, and each file, also a
  /// recycled file, gets a new key when it is started. Therefore neither older records of a
  /// recycled file nor bytes that a client sends can look like records. In a file of version 1, the
  /// key is the number of the file.
  uint64_t key = 0;
  size_t bytes = kLogFileHeaderBytes;  // size of the header in the file that was read
};

/// A log file with durable records. The manifest lists this file, and the file must exist.
struct LogFile {
  uint64_t number = 0;
  uint64_t first_sequence = 0;  // sequence number of the first record of the file

  bool operator==(const LogFile&) const = default;
};

struct LogRecordHeader {
  uint32_t body_bytes = 0;
  uint32_t body_crc = 0;
  uint64_t sequence = 0;   // sequence number; strictly ascending in the log
  LogPosition synced = 0;  // position that was known to be durable when the record was added
  uint8_t kind = 0;        // 1…255; defined by the engine
};

namespace internal {
template <typename T>
void PutLittle(char** p, T v) {
  std::memcpy(*p, &v, sizeof v);
  *p += sizeof v;
}
template <typename T>
T TakeLittle(const char** p) {
  T v;
  std::memcpy(&v, *p, sizeof v);
  *p += sizeof v;
  return v;
}
inline uint32_t HeaderCrc(uint64_t key, const char* header, size_t size) {
  const uint32_t seed = crc32c::Value({reinterpret_cast<const char*>(&key), 8});
  return crc32c::Extend(seed, {header, size});
}
}  // namespace internal

/// Encodes the header of a file of kLogVersion, which has kLogFileHeaderBytes bytes.
inline void EncodeLogFileHeader(const LogFileHeader& h, char* out) {
  char* p = out;
  std::memcpy(p, kLogMagic, kLogMagicBytes);
  p += kLogMagicBytes;
  *p++ = kLogVersion;
  internal::PutLittle(&p, h.number);
  internal::PutLittle(&p, h.start);
  internal::PutLittle(&p, h.synced);
  internal::PutLittle(&p, h.key);
  internal::PutLittle(&p, crc32c::Value({out, kLogFileHeaderBytes - 4}));
}

/// Decodes the header of a file of any version. Returns true if `in` begins with an undamaged
/// header.
inline bool DecodeLogFileHeader(ByteView in, LogFileHeader* h) {
  if (in.size() < kLogFileHeaderBytesWithoutKey ||
      std::memcmp(in.data(), kLogMagic, kLogMagicBytes) != 0)
    return false;
  const bool keyed = in[kLogMagicBytes] == kLogVersion;
  if (!keyed && in[kLogMagicBytes] != kLogVersionWithoutKey) return false;
  h->bytes = keyed ? kLogFileHeaderBytes : kLogFileHeaderBytesWithoutKey;
  if (in.size() < h->bytes) return false;
  const char* p = in.data() + kLogMagicBytes + 1;
  h->number = internal::TakeLittle<uint64_t>(&p);
  h->start = internal::TakeLittle<uint64_t>(&p);
  h->synced = internal::TakeLittle<uint64_t>(&p);
  h->key = keyed ? internal::TakeLittle<uint64_t>(&p) : h->number;
  return internal::TakeLittle<uint32_t>(&p) == crc32c::Value(in.substr(0, h->bytes - 4));
}

/// Encodes kLogRecordHeaderBytes bytes at `out`. `key` is LogFileHeader::key of the file.
inline void EncodeLogRecordHeader(uint64_t key, const LogRecordHeader& h, char* out) {
  char* p = out;
  internal::PutLittle(&p, h.body_bytes);
  internal::PutLittle(&p, h.body_crc);
  internal::PutLittle(&p, h.sequence);
  internal::PutLittle(&p, h.synced);
  internal::PutLittle(&p, h.kind);
  internal::PutLittle(&p, internal::HeaderCrc(key, out, kLogRecordHeaderBytes - 4));
}

/// Decodes a record header. Returns true if `in` begins with an undamaged record header of the log
/// file with this key.
inline bool DecodeLogRecordHeader(uint64_t key, ByteView in, LogRecordHeader* h) {
  if (in.size() < kLogRecordHeaderBytes || in[kLogKindOffset] == 0) return false;
  const char* p = in.data();
  h->body_bytes = internal::TakeLittle<uint32_t>(&p);
  h->body_crc = internal::TakeLittle<uint32_t>(&p);
  h->sequence = internal::TakeLittle<uint64_t>(&p);
  h->synced = internal::TakeLittle<uint64_t>(&p);
  h->kind = internal::TakeLittle<uint8_t>(&p);
  return internal::TakeLittle<uint32_t>(&p) ==
         internal::HeaderCrc(key, in.data(), kLogRecordHeaderBytes - 4);
}

/// Decodes a record. Returns true if `in` begins with a complete, undamaged record of the log file
/// with this key. *body is a view of `in`.
inline bool DecodeLogRecord(uint64_t key, ByteView in, LogRecordHeader* h, ByteView* body) {
  if (!DecodeLogRecordHeader(key, in, h)) return false;
  if (h->body_bytes > in.size() - kLogRecordHeaderBytes) return false;
  *body = in.substr(kLogRecordHeaderBytes, h->body_bytes);
  return crc32c::Value(*body) == h->body_crc;
}

/// Returns the name of a log file, such as "000000000042.log".
std::string LogFileName(uint64_t number);
/// Sets *number to the number (≥ 1) in a name that LogFileName created. Returns false for all other
/// names.
bool ParseLogFileName(const std::string& name, uint64_t* number);

}  // namespace hg::lsm
