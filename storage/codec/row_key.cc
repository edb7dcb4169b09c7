#include "storage/codec/row_key.h"

#include <algorithm>

namespace hg::codec {
namespace {

bool AllZero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

}  // namespace

Bytes MakeTsuid(ByteView metric, std::vector<Bytes> pairs) {
  std::sort(pairs.begin(), pairs.end());
  Bytes tsuid(metric);
  for (const Bytes& pair : pairs) tsuid += pair;
  return tsuid;
}

Status CheckTsuid(const KeyLayout& layout, ByteView tsuid) {
  const auto metric_width = static_cast<size_t>(layout.metric_width);
  const auto pair_width = static_cast<size_t>(layout.pair_width());
  const size_t key_bytes = tsuid.size() + static_cast<size_t>(layout.salt_width) + 4;
  if (key_bytes > kRowKeyBytesMax) {
    return Status::InvalidArgument("a TSUID of " + std::to_string(tsuid.size()) +
                                   " bytes would need row keys of " + std::to_string(key_bytes) +
                                   " bytes; the maximum is " + std::to_string(kRowKeyBytesMax));
  }
  if (tsuid.size() > metric_width && (tsuid.size() - metric_width) % pair_width == 0)
    return Status::Ok();
  return Status::InvalidArgument("invalid TSUID (expected a metric of " +
                                 std::to_string(metric_width) + " bytes and tag pairs of " +
                                 std::to_string(pair_width) + " bytes): " + ToHexUpper(tsuid));
}

uint32_t SaltBucket(const KeyLayout& layout, ByteView tsuid) {
  // The hash wraps like Java's int. Unsigned arithmetic gives the same bits.
  uint32_t hash = 1;
  for (char c : tsuid)
    hash = 31 * hash + static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
  const int64_t remainder = static_cast<int64_t>(static_cast<int32_t>(hash)) % layout.salt_buckets;
  return static_cast<uint32_t>(remainder < 0 ? -remainder : remainder);
}

void AppendRowKey(const KeyLayout& layout, ByteView tsuid, uint32_t base, Bytes* out) {
  const auto metric_width = static_cast<size_t>(layout.metric_width);
  const ByteView metric = tsuid.substr(0, metric_width);
  if (layout.salt_width > 0) {
    AppendBig(out, AllZero(metric) ? 0 : SaltBucket(layout, tsuid), layout.salt_width);
  }
  out->append(metric);
  AppendBig(out, base, 4);
  out->append(tsuid.substr(metric_width));
}

Bytes MakeRowKey(const KeyLayout& layout, ByteView tsuid, uint32_t base) {
  Bytes key;
  key.reserve(tsuid.size() + 4 + static_cast<size_t>(layout.salt_width));
  AppendRowKey(layout, tsuid, base, &key);
  return key;
}

Bytes MakeGlobalRowKey(const KeyLayout& layout, uint32_t base) {
  Bytes key(static_cast<size_t>(layout.salt_width + layout.metric_width), '\0');
  AppendBig(&key, base, 4);
  return key;
}

bool IsGlobalRowKey(const KeyLayout& layout, ByteView key) {
  return key.size() == static_cast<size_t>(layout.prefix_width()) &&
         AllZero(key.substr(0, key.size() - 4));
}

Result<RowKey> RowKey::Decode(const KeyLayout& layout, ByteView key) {
  const auto prefix = static_cast<size_t>(layout.prefix_width());
  const auto pair_width = static_cast<size_t>(layout.pair_width());
  if (key.size() <= prefix || (key.size() - prefix) % pair_width != 0) {
    return Status::Corruption("row key " + ToHexUpper(key) + " of " + std::to_string(key.size()) +
                              " bytes does not fit the layout: a prefix of " +
                              std::to_string(prefix) + " bytes, then tag pairs of " +
                              std::to_string(pair_width));
  }
  return RowKey(layout, key);
}

Bytes RowKey::tsuid() const {
  Bytes tsuid(metric());
  tsuid += pairs();
  return tsuid;
}

Result<Bytes> TsuidOf(const KeyLayout& layout, ByteView key) {
  ASSIGN_OR_RETURN(const RowKey row, RowKey::Decode(layout, key));
  return row.tsuid();
}

}  // namespace hg::codec
