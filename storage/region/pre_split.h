#pragma once
// Where a table is divided before anything is in it (spec region-store.md R3–R7), and row keys as
// people write them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/lsm/manifest.h"

namespace hg::region {

/// The regions divided further at the keys, each cut to `key_width` bytes; in any order. Ids of new
/// regions are the caller's to give. InvalidArgument: a key is empty or given twice.
Result<std::vector<lsm::RegionEntry>> PreSplit(std::vector<lsm::RegionEntry> regions,
                                               const std::vector<Bytes>& keys, size_t key_width);

/// n regions with even shares of all 8-byte keys (HBase's UniformSplit). n ≥ 1.
std::vector<Bytes> UniformSplits(uint32_t n);
/// n regions with even shares of the keys 00000000 … ffffffff, as text (HBase's HexStringSplit).
std::vector<Bytes> HexSplits(uint32_t n);

/// A key from text: \xHH is a byte, \\ a backslash, everything else stands for itself.
/// InvalidArgument: another escape.
Result<Bytes> ParseKey(std::string_view text);
/// The text of a key: printable ASCII as it is, a backslash doubled, other bytes as \xHH.
std::string KeyText(ByteView key);
/// A key on each line; blank lines and the CR of CRLF do not count.
Result<std::vector<Bytes>> ParseKeyLines(std::string_view text);

}  // namespace hg::region
