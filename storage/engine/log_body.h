#pragma once
// Bodies of the log's records (storage/lsm/FORMAT.md "Bodies"). Every change of memory is one of
// these.

#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/cell_versions.h"
#include "storage/points/points.h"

namespace hg::points {

enum class LogKind : uint8_t {
  kPoints = 1,  // points of known series
  kSeries = 2,  // a new series: its number is the number of series before
  kRow = 3,     // a mutation of one row through the cells door
};

/// Points of one record: bounds the time in the write lock. No promise spans rows.
inline constexpr size_t kRecordPointsMax = 512;
/// Bytes of the longest entry.
inline constexpr size_t kEntryBytesMax = 1 + 4 + 4 + 4 + 8;

/// Writes the body of ≤ kRecordPointsMax entries at out, where 2 + n × kEntryBytesMax + 8 bytes are
/// free; its size. 0 if an entry has a qualifier that is no canonical single point's.
size_t EncodePoints(std::span<const PointEntry> entries, char* out);
/// False: not such a body.
bool DecodePoints(ByteView in, std::vector<PointEntry>* entries);

void EncodeSeries(uint32_t number, ByteView tsuid, Bytes* out);
bool DecodeSeries(ByteView in, uint32_t* number, ByteView* tsuid);

/// One change as it is applied: the store's clock has been asked, nothing is left to decide.
struct StampedChange {
  CellChange::Kind kind = CellChange::Kind::kPut;
  uint8_t family = 0;
  Bytes qualifier;
  Bytes value;
  bool operand = false;      // of a put: the value is to be appended to what is there
  int64_t timestamp_ms = 0;  // of the cell or the mark
  int64_t expires_ms = lsm::kNeverExpires;  // of a put
};

struct RowRecord {
  uint32_t table = 0;
  Bytes key;
  int64_t stamp_ms = 0;  // no later server time is below it
  std::vector<StampedChange> changes;
};

void EncodeRowRecord(const RowRecord& row, Bytes* out);
bool DecodeRowRecord(ByteView in, RowRecord* row);

}  // namespace hg::points
