#include "storage/hbase/spool_record.h"

#include "storage/base/sized_bytes.h"

namespace hg::hbase {
namespace {

constexpr char kHasTime = 1;
constexpr char kHasTtl = 2;

void EncodePut(const CellChange& put, Bytes* out) {
  AppendSized(out, put.family);
  AppendSized(out, put.qualifier);
  AppendSized(out, put.value);
  out->push_back(static_cast<char>((put.timestamp_ms ? kHasTime : 0) | (put.ttl_ms ? kHasTtl : 0)));
  if (put.timestamp_ms) AppendVarint(out, ZigZag(*put.timestamp_ms));
  if (put.ttl_ms) AppendVarint(out, ZigZag(*put.ttl_ms));
}

bool TakeSigned(ByteView* in, int64_t* v) {
  uint64_t folded;
  if (!GetVarint64(in, &folded)) return false;
  *v = UnZigZag(folded);
  return true;
}

bool TakePut(ByteView* in, CellChange* put) {
  put->kind = CellChange::Kind::kPut;
  if (!TakeSized(in, &put->family) || !TakeSized(in, &put->qualifier) ||
      !TakeSized(in, &put->value) || in->empty()) {
    return false;
  }
  const char flags = in->front();
  in->remove_prefix(1);
  if ((flags & ~(kHasTime | kHasTtl)) != 0) return false;
  if ((flags & kHasTime) != 0 && !TakeSigned(in, &put->timestamp_ms.emplace())) return false;
  return (flags & kHasTtl) == 0 || TakeSigned(in, &put->ttl_ms.emplace());
}

}  // namespace

Bytes EncodeSpoolRecord(const SpoolRecord& record) {
  Bytes out;
  AppendVarint(&out, ZigZag(record.taken_ms));
  AppendSized(&out, record.table);
  AppendVarint(&out, record.rows.size());
  for (const RowMutation& row : record.rows) {
    AppendSized(&out, row.key);
    AppendVarint(&out, row.changes.size());
    for (const CellChange& put : row.changes) EncodePut(put, &out);
  }
  return out;
}

bool DecodeSpoolRecord(uint8_t kind, ByteView body, SpoolRecord* record) {
  if (!SpoolRecord::IsKind(kind)) return false;
  record->kind = static_cast<SpoolRecord::Kind>(kind);
  record->rows.clear();
  uint64_t rows;
  if (!TakeSigned(&body, &record->taken_ms) || !TakeSized(&body, &record->table) ||
      !GetVarint64(&body, &rows)) {
    return false;
  }
  for (; rows > 0; --rows) {
    RowMutation& row = record->rows.emplace_back();
    uint64_t puts;
    if (!TakeSized(&body, &row.key) || !GetVarint64(&body, &puts)) return false;
    for (; puts > 0; --puts) {
      if (!TakePut(&body, &row.changes.emplace_back())) return false;
    }
  }
  const bool one = record->rows.size() == 1 && record->rows[0].changes.size() == 1;
  return body.empty() && (one || record->kind == SpoolRecord::Kind::kPuts);
}

}  // namespace hg::hbase
