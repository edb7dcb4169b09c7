#include "storage/lsm/table_attributes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>

#include "storage/table_name.h"

namespace hg::lsm {
namespace {

constexpr size_t kFamilyNameMax = 127;
constexpr size_t kTableNameMax = 255;
// A block is read whole; above, one get would ask for more memory than a query may (D23).
constexpr uint32_t kBlockSizeMax = 16 << 20;

constexpr std::array<std::string_view, 3> kCompressions = {"NONE", "SNAPPY", "ZSTD"};
constexpr std::array<std::string_view, 5> kEncodings = {"NONE", "PREFIX", "DIFF", "FAST_DIFF",
                                                        "ROW_INDEX_V1"};

bool IsNamePart(std::string_view part) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  return !part.empty() && std::all_of(part.begin(), part.end(), allowed) && part[0] != '-' &&
         part[0] != '.';
}

template <size_t N>
std::string OneOf(const std::array<std::string_view, N>& names) {
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Status Bad(std::string_view name, std::string_view text, std::string_view expected) {
  return Status::InvalidArgument(std::string(name) + " '" + std::string(text) + "': expected " +
                                 std::string(expected));
}

Status SetNumber(std::string_view name, std::string_view text, int64_t least, int64_t most,
                 const std::function<void(int64_t)>& set) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || v < least || v > most) {
    return Bad(name, text,
               "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  set(v);
  return {};
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

Status SetBool(std::string_view name, std::string_view text, bool* out) {
  const std::string word = Upper(text);
  if (word != "TRUE" && word != "FALSE") return Bad(name, text, "true or false");
  *out = word == "TRUE";
  return {};
}

const char* Text(bool b) { return b ? "true" : "false"; }

Status CheckFamily(const FamilyDescriptor& family) {
  const auto printable = [](unsigned char c) { return c > 0x20 && c != 0x7F && c != ':'; };
  if (family.name.empty() || family.name.size() > kFamilyNameMax ||
      !std::all_of(family.name.begin(), family.name.end(), printable)) {
    return Status::InvalidArgument("family '" + family.name +
                                   "': a name is 1 to 127 printable bytes without ':'");
  }
  const std::string of = "family '" + family.name + "'";
  const auto number = [&of](std::string_view name, int64_t v, int64_t least, int64_t most) {
    return Prepend(SetNumber(name, std::to_string(v), least, most, [](int64_t) {}), of);
  };
  RETURN_IF_ERROR(number("VERSIONS", family.versions, 1, INT32_MAX));
  RETURN_IF_ERROR(number("MIN_VERSIONS", family.min_versions, 0, family.versions));
  RETURN_IF_ERROR(number("TTL", family.ttl_s, 1, kTtlForever));
  RETURN_IF_ERROR(number("BLOCKSIZE", family.block_size, 1024, kBlockSizeMax));
  // LZ4, LZO, GZ and BZIP2 are not linked: a table of theirs is refused, not kept differently.
  if (std::find(kCompressions.begin(), kCompressions.end(), family.compression) ==
      kCompressions.end()) {
    return Prepend(
        Status::Unsupported("COMPRESSION '" + family.compression + "': " + OneOf(kCompressions)),
        of);
  }
  if (std::find(kEncodings.begin(), kEncodings.end(), family.data_block_encoding) ==
      kEncodings.end()) {
    return Prepend(Bad("DATA_BLOCK_ENCODING", family.data_block_encoding, OneOf(kEncodings)), of);
  }
  return {};
}

}  // namespace

Result<std::string> TableName(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view space = colon == std::string_view::npos ? "" : name.substr(0, colon);
  const std::string_view table = colon == std::string_view::npos ? name : name.substr(colon + 1);
  if (name.size() > kTableNameMax || !IsNamePart(table) ||
      (colon != std::string_view::npos && !IsNamePart(space))) {
    return Status::InvalidArgument(
        "table '" + std::string(name) +
        "': a name is [namespace:]name of at most 255 letters, digits, '_', '-' and '.'");
  }
  return std::string(WithoutDefaultNamespace(name));
}

std::string_view NamespaceOf(std::string_view table) {
  const size_t colon = table.find(':');
  return colon == std::string_view::npos ? "" : table.substr(0, colon);
}

Status CheckDescriptor(const TableDescriptor& table) {
  RETURN_IF_ERROR(TableName(table.name).status());
  if (table.families.empty() || table.families.size() > kFamiliesMax) {
    return Status::InvalidArgument("table '" + table.name + "' has " +
                                   std::to_string(table.families.size()) + " families, not 1 to " +
                                   std::to_string(kFamiliesMax));
  }
  for (auto it = table.families.begin(); it != table.families.end(); ++it) {
    RETURN_IF_ERROR(Prepend(CheckFamily(*it), "table '" + table.name + "'"));
    if (std::any_of(table.families.begin(), it,
                    [&](const auto& other) { return other.name == it->name; })) {
      return Status::InvalidArgument("table '" + table.name + "' names family '" + it->name +
                                     "' twice");
    }
  }
  return {};
}

bool SameDescriptor(const TableDescriptor& a, const TableDescriptor& b) {
  return a.name == b.name && a.points == b.points &&
         std::is_permutation(a.families.begin(), a.families.end(), b.families.begin(),
                             b.families.end());
}

Status SetAttribute(std::string_view name, std::string_view text, FamilyDescriptor* family) {
  const std::string key = Upper(name);
  const auto i32 = [](int32_t* out) {
    return [out](int64_t v) { *out = static_cast<int32_t>(v); };
  };
  if (key == "VERSIONS") return SetNumber(key, text, 1, INT32_MAX, i32(&family->versions));
  if (key == "MIN_VERSIONS") return SetNumber(key, text, 0, INT32_MAX, i32(&family->min_versions));
  if (key == "TTL") {
    if (Upper(text) == "FOREVER") {
      family->ttl_s = kTtlForever;
      return {};
    }
    return SetNumber(key, text, 1, kTtlForever, [family](int64_t v) { family->ttl_s = v; });
  }
  if (key == "BLOCKSIZE") {
    return SetNumber(key, text, 1024, kBlockSizeMax,
                     [family](int64_t v) { family->block_size = static_cast<uint32_t>(v); });
  }
  if (key == "KEEP_DELETED_CELLS") {
    if (Upper(text) == "TTL") return Status::Unsupported("KEEP_DELETED_CELLS 'TTL': true or false");
    return SetBool(key, text, &family->keep_deleted_cells);
  }
  if (key == "NEW_VERSION_BEHAVIOR") return SetBool(key, text, &family->new_version_behavior);
  if (key == "IN_MEMORY") return SetBool(key, text, &family->in_memory);
  if (key == "BLOCKCACHE") return SetBool(key, text, &family->block_cache);
  if (key == "BLOOMFILTER") {
    const std::string word = Upper(text);
    if (word == "ROWCOL" || word == "ROWPREFIX_FIXED_LENGTH") {
      return Status::Unsupported("BLOOMFILTER '" + word + "': NONE or ROW");
    }
    if (word != "NONE" && word != "ROW") return Bad(key, text, "NONE or ROW");
    family->bloom_filter = word == "ROW" ? BloomFilter::kRow : BloomFilter::kNone;
    return {};
  }
  if (key == "COMPRESSION" || key == "DATA_BLOCK_ENCODING") {
    FamilyDescriptor changed = *family;
    (key == "COMPRESSION" ? changed.compression : changed.data_block_encoding) = Upper(text);
    RETURN_IF_ERROR(CheckFamily(changed));
    *family = changed;
    return {};
  }
  return Status::InvalidArgument("no such attribute of a family: '" + std::string(name) + "'");
}

std::string DescribeFamily(const FamilyDescriptor& family) {
  std::string text = "NAME => '" + family.name + "'";
  const auto add = [&text](const char* name, const std::string& value) {
    text += std::string(", ") + name + " => '" + value + "'";
  };
  add("VERSIONS", std::to_string(family.versions));
  add("MIN_VERSIONS", std::to_string(family.min_versions));
  add("TTL", family.ttl_s == kTtlForever ? "FOREVER" : std::to_string(family.ttl_s));
  add("KEEP_DELETED_CELLS", Text(family.keep_deleted_cells));
  add("NEW_VERSION_BEHAVIOR", Text(family.new_version_behavior));
  add("COMPRESSION", family.compression);
  add("DATA_BLOCK_ENCODING", family.data_block_encoding);
  add("BLOOMFILTER", family.bloom_filter == BloomFilter::kRow ? "ROW" : "NONE");
  add("IN_MEMORY", Text(family.in_memory));
  add("BLOCKCACHE", Text(family.block_cache));
  add("BLOCKSIZE", std::to_string(family.block_size));
  return text;
}

bool FitsPoints(const FamilyDescriptor& family) {
  return family.versions == 1 && !family.keep_deleted_cells && !family.new_version_behavior;
}

}  // namespace hg::lsm
