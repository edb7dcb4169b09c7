#pragma once
// The initial regions of a new table (region-store.md R3–R7), and row keys as text.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/lsm/manifest.h"

namespace hg::region {

/// Splits the regions further at the keys, each truncated to `key_width` bytes. The keys may be in
/// any order. The caller assigns the ids of new regions. InvalidArgument: a key is empty or occurs
/// twice.
Result<std::vector<lsm::RegionEntry>> PreSplit(std::vector<lsm::RegionEntry> regions,
                                               const std::vector<Bytes>& keys, size_t key_width);

/// Returns the split keys for n ≥ 1 regions with equal shares of all 8-byte keys (HBase's
/// UniformSplit).
std::vector<Bytes> UniformSplits(uint32_t n);
/// Returns the split keys for n regions with equal shares of the text keys 00000000 … ffffffff
/// (HBase's HexStringSplit).
std::vector<Bytes> HexSplits(uint32_t n);

/// Parses a key: \xHH is a byte, \\ is a backslash, and other characters stand for themselves.
/// InvalidArgument: there is another escape.
Result<Bytes> ParseKey(std::string_view text);
/// Returns the text of a key. Printable ASCII characters stay, a backslash is doubled, and other
/// bytes become \xHH.
std::string KeyText(ByteView key);
/// Parses one key per line. Ignores blank lines, and the CR before an LF.
Result<std::vector<Bytes>> ParseKeyLines(std::string_view text);

}  // namespace hg::region
