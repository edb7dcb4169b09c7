#pragma once
// Row keys of the data table: salt ‖ metric ‖ base time ‖ (tagk ‖ tagv)…. A TSUID is a row key
// without salt and base time (opentsdb-schema.md §4).

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::codec {

/// Returns the TSUID of a metric and its tag pairs (tagk ‖ tagv, at least one pair). Sorts the
/// pairs by their bytes. The caller must ensure that all ids have the right widths.
Bytes MakeTsuid(ByteView metric, std::vector<Bytes> pairs);

/// Maximum length of a row key in bytes, as in HBase.
inline constexpr size_t kRowKeyBytesMax = 32767;

/// Returns ok if `tsuid` has a metric and at least one complete tag pair, and is not too long for a
/// row key. Otherwise returns InvalidArgument.
Status CheckTsuid(const KeyLayout& layout, ByteView tsuid);

/// Returns the number of the salt bucket of a series. In a row key, the number is truncated to the
/// width of the salt. Like OpenTSDB's RowKey.prefixKeyWithSalt, the function hashes metric and tag
/// pairs as signed bytes, and makes a negative remainder positive.
uint32_t SaltBucket(const KeyLayout& layout, ByteView tsuid);

/// Appends the row key of one hour of a series to `out`. `tsuid` must pass CheckTsuid.
void AppendRowKey(const KeyLayout& layout, ByteView tsuid, uint32_t base, Bytes* out);
Bytes MakeRowKey(const KeyLayout& layout, ByteView tsuid, uint32_t base);

/// Replaces the base time in a row key.
inline void SetRowKeyBase(const KeyLayout& layout, uint32_t base, Bytes* key) {
  char* const at = key->data() + layout.salt_width + layout.metric_width;
  for (size_t i = 0; i < sizeof(base); ++i) at[i] = static_cast<char>(base >> (24 - 8 * i));
}

/// Returns the key of the row with the global annotations of an hour. The key consists of a zero
/// salt, a zero metric, and the base time, without tag pairs (opentsdb-schema.md §11.1).
Bytes MakeGlobalRowKey(const KeyLayout& layout, uint32_t base);
bool IsGlobalRowKey(const KeyLayout& layout, ByteView key);

/// A row key that fits its layout and has at least one tag pair. Does not own the bytes and the
/// layout.
class RowKey {
 public:
  /// Returns Corruption if the key is shorter than salt, metric and base time, has no tag pairs, or
  /// has an incomplete tag pair. The error message contains the key.
  static Result<RowKey> Decode(const KeyLayout& layout, ByteView key);

  [[nodiscard]] ByteView bytes() const { return key_; }
  [[nodiscard]] ByteView salt() const { return key_.substr(0, salt_width()); }
  [[nodiscard]] ByteView metric() const { return key_.substr(salt_width(), metric_width()); }
  [[nodiscard]] uint32_t base() const {
    return ReadBig32(key_.data() + salt_width() + metric_width());
  }
  /// Returns the ids of all tag pairs (tagk ‖ tagv), in stored order. Programs other than Hourglass
  /// may have stored the pairs unsorted.
  [[nodiscard]] ByteView pairs() const {
    return key_.substr(static_cast<size_t>(layout_->prefix_width()));
  }
  [[nodiscard]] size_t pair_count() const {
    return pairs().size() / static_cast<size_t>(layout_->pair_width());
  }
  [[nodiscard]] ByteView tagk(size_t i) const {
    return pairs().substr(i * static_cast<size_t>(layout_->pair_width()),
                          static_cast<size_t>(layout_->tagk_width));
  }
  [[nodiscard]] ByteView tagv(size_t i) const {
    return pairs().substr(
        i * static_cast<size_t>(layout_->pair_width()) + static_cast<size_t>(layout_->tagk_width),
        static_cast<size_t>(layout_->tagv_width));
  }
  /// Returns the TSUID of the row: the metric and the tag pairs.
  [[nodiscard]] Bytes tsuid() const;

 private:
  RowKey(const KeyLayout& layout, ByteView key) : layout_(&layout), key_(key) {}
  [[nodiscard]] size_t salt_width() const { return static_cast<size_t>(layout_->salt_width); }
  [[nodiscard]] size_t metric_width() const { return static_cast<size_t>(layout_->metric_width); }

  const KeyLayout* layout_;
  ByteView key_;
};

/// Returns the TSUID of a row key. Returns Corruption in the same cases as RowKey::Decode.
Result<Bytes> TsuidOf(const KeyLayout& layout, ByteView key);

/// Returns the number of tag pairs of a TSUID. CheckTsuid must accept the TSUID.
inline size_t PairsOf(const KeyLayout& layout, ByteView tsuid) {
  return (tsuid.size() - static_cast<size_t>(layout.metric_width)) /
         static_cast<size_t>(layout.tagk_width + layout.tagv_width);
}

/// Calls visit(tagk, tagv) for each tag pair of a TSUID, in order. CheckTsuid must accept the
/// TSUID.
template <typename Visit>
void ForEachPair(const KeyLayout& layout, ByteView tsuid, Visit&& visit) {
  const auto tagk_width = static_cast<size_t>(layout.tagk_width);
  const auto tagv_width = static_cast<size_t>(layout.tagv_width);
  for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
       at += tagk_width + tagv_width) {
    visit(tsuid.substr(at, tagk_width), tsuid.substr(at + tagk_width, tagv_width));
  }
}

}  // namespace hg::codec
