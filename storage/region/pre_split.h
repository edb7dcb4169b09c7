#pragma once
// The initial regions of a new table (region-store.md R3–R7), and the text form of row keys.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/lsm/manifest.h"

namespace hg::region {

/// Splits the regions further at the keys, each truncated to `key_width` bytes. The keys may be in
/// any order. The caller assigns the ids of new regions. Returns InvalidArgument if a key is empty
/// or occurs twice.
Result<std::vector<lsm::RegionEntry>> PreSplit(std::vector<lsm::RegionEntry> regions,
                                               const std::vector<Bytes>& keys, size_t key_width);

/// Returns the split keys for n ≥ 1 regions that have equal shares of all 8-byte keys (HBase's
/// UniformSplit).
std::vector<Bytes> UniformSplits(uint32_t n);
/// Returns the split keys for n regions that have equal shares of the text keys 00000000 … ffffffff
/// (HBase's HexStringSplit).
std::vector<Bytes> HexSplits(uint32_t n);

/// Parses a key: \xHH is a byte, \\ is a backslash, and other characters stand for themselves.
/// Returns InvalidArgument if the text has another escape.
Result<Bytes> ParseKey(std::string_view text);
/// Returns the text of a key. Printable ASCII characters stay unchanged, a backslash is doubled,
/// and every other byte becomes \xHH.
std::string KeyText(ByteView key);
/// Parses a text with one key per line. Ignores blank lines, and a CR before an LF.
Result<std::vector<Bytes>> ParseKeyLines(std::string_view text);

}  // namespace hg::region
