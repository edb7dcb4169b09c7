#pragma once
// Encodes and decodes the bodies of log records (storage/points/FORMAT.md "Log records"). A record
// has points, one new series, or one change of a row.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/cell_versions.h"
#include "storage/points/points.h"

namespace hg::engine {

enum class LogKind : uint8_t {
  kPoints = 1,  // points of known series
  kSeries = 2,  // a new series, with its number
  kRow = 3,     // a change of one row through the cell store
};

/// Maximum number of points in one log record. It limits how long a write holds the write lock. A
/// larger batch may be divided into several records, because points of different rows need not
/// become visible together.
inline constexpr size_t kRecordPointsMax = 512;
/// Maximum size of one encoded point in bytes.
inline constexpr size_t kEntryBytesMax = 1 + 4 + 4 + 4 + 8;

/// Encodes at most kRecordPointsMax entries at `out`, where 2 + n × kEntryBytesMax + 8 bytes must
/// be available for n entries. Returns the size of the body, or 0 if a qualifier does not belong to
/// a canonical single point.
size_t EncodePoints(std::span<const PointEntry> entries, char* out);
/// Decodes the body of a kPoints record. Returns false if `in` is not a valid body.
bool DecodePoints(ByteView in, std::vector<PointEntry>* entries);

void EncodeSeries(uint32_t number, ByteView tsuid, Bytes* out);
bool DecodeSeries(ByteView in, uint32_t* number, ByteView* tsuid);  // *tsuid is a view of `in`

/// One change of a cell or row. The change has its final timestamps and can be applied.
struct StampedChange {
  CellChange::Kind kind = CellChange::Kind::kPut;
  uint8_t family = 0;  // index in Table::families
  Bytes qualifier;
  Bytes value;
  bool operand = false;                     // for a put: append to the stored value
  int64_t timestamp_ms = 0;                 // timestamp of the cell or of the tombstone
  int64_t expires_ms = lsm::kNeverExpires;  // time at which the put cell expires
};

struct RowRecord {
  uint32_t table = 0;
  Bytes key;
  int64_t stamp_ms = 0;  // all later server times are at least this time
  std::vector<StampedChange> changes;
};

void EncodeRowRecord(const RowRecord& row, Bytes* out);
bool DecodeRowRecord(ByteView in, RowRecord* row);

}  // namespace hg::engine
