#pragma once
// Bodies of log records (storage/lsm/FORMAT.md "Bodies"). Every change of a memtable is in one such
// record.

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
/// larger batch may be divided, because points of different rows need not become visible together.
inline constexpr size_t kRecordPointsMax = 512;
/// Maximum size of one entry in bytes.
inline constexpr size_t kEntryBytesMax = 1 + 4 + 4 + 4 + 8;

/// Encodes at most kRecordPointsMax entries at `out`, which needs 2 + n × kEntryBytesMax + 8 bytes.
/// Returns the size of the body, or 0 if a qualifier does not belong to a canonical single point.
size_t EncodePoints(std::span<const PointEntry> entries, char* out);
/// Decodes a body. Returns false if EncodePoints did not produce these bytes.
bool DecodePoints(ByteView in, std::vector<PointEntry>* entries);

void EncodeSeries(uint32_t number, ByteView tsuid, Bytes* out);
bool DecodeSeries(ByteView in, uint32_t* number, ByteView* tsuid);

/// One change of a cell or row. It has its final timestamps and can be applied.
struct StampedChange {
  CellChange::Kind kind = CellChange::Kind::kPut;
  uint8_t family = 0;
  Bytes qualifier;
  Bytes value;
  bool operand = false;                     // for a put: append the value to the stored value
  int64_t timestamp_ms = 0;                 // of the cell or the tombstone
  int64_t expires_ms = lsm::kNeverExpires;  // when the put cell expires
};

struct RowRecord {
  uint32_t table = 0;
  Bytes key;
  int64_t stamp_ms = 0;  // no later server time may be smaller
  std::vector<StampedChange> changes;
};

void EncodeRowRecord(const RowRecord& row, Bytes* out);
bool DecodeRowRecord(ByteView in, RowRecord* row);

}  // namespace hg::engine
