#include "storage/lsm/table_attributes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <optional>

#include "storage/table_name.h"

namespace hg::lsm {
namespace {

constexpr size_t kFamilyNameMax = 127;
constexpr size_t kTableNameMax = 255;
// A block is read as a whole. With larger blocks, one get could need more memory than a query may
// use (region-store.md D23).
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

// Checks the compression of a family. LZ4, LZO, GZ and BZIP2 are not supported; a table that
// requires them is rejected instead of being stored differently.
Status CheckCompression(const std::string& name) {
  if (std::find(kCompressions.begin(), kCompressions.end(), name) != kCompressions.end()) return {};
  return Status::Unsupported("COMPRESSION '" + name + "': expected one of " + OneOf(kCompressions));
}

Status CheckEncoding(const std::string& name) {
  if (std::find(kEncodings.begin(), kEncodings.end(), name) != kEncodings.end()) return {};
  return Bad("DATA_BLOCK_ENCODING", name, "one of " + OneOf(kEncodings));
}

Status CheckFamily(const FamilyDescriptor& family) {
  const auto allowed = [](unsigned char c) {
    return c > 0x20 && c != 0x7F && c != ':' && c != '/' && c != '\\';
  };
  if (family.name.empty() || family.name.size() > kFamilyNameMax || family.name[0] == '.' ||
      family.name == "recovered.edits" ||
      !std::all_of(family.name.begin(), family.name.end(), allowed)) {
    return Status::InvalidArgument("family '" + family.name +
                                   "': a name is 1 to 127 printable bytes without ':', '/' and "
                                   "'\\', does not begin with '.' and is not 'recovered.edits'");
  }
  const std::string of = "family '" + family.name + "'";
  const auto number = [&of](std::string_view name, int64_t v, int64_t least, int64_t most) {
    return Prepend(SetNumber(name, std::to_string(v), least, most, [](int64_t) {}), of);
  };
  RETURN_IF_ERROR(number("VERSIONS", family.versions, 1, INT32_MAX));
  RETURN_IF_ERROR(number("MIN_VERSIONS", family.min_versions, 0, family.versions));
  RETURN_IF_ERROR(number("TTL", family.ttl_s, 1, kTtlForever));
  RETURN_IF_ERROR(number("BLOCKSIZE", family.block_size, 1024, kBlockSizeMax));
  RETURN_IF_ERROR(Prepend(CheckCompression(family.compression), of));
  RETURN_IF_ERROR(Prepend(CheckEncoding(family.data_block_encoding), of));
  return {};
}

using SplitKind = TableSplitPolicy::Kind;

constexpr std::string_view kSplitPackage = "org.apache.hadoop.hbase.regionserver.";

struct SplitClass {
  SplitKind kind;
  std::string_view name;
  std::string_view short_name;
};
constexpr SplitClass kSplitClasses[] = {
    {SplitKind::kDisabled, "DisabledRegionSplitPolicy", "Disabled"},
    {SplitKind::kConstantSize, "ConstantSizeRegionSplitPolicy", "ConstantSize"},
    {SplitKind::kIncreasing, "IncreasingToUpperBoundRegionSplitPolicy", "IncreasingToUpperBound"},
    {SplitKind::kStepping, "SteppingSplitPolicy", "Stepping"},
    {SplitKind::kKeyPrefix, "KeyPrefixRegionSplitPolicy", "KeyPrefix"},
    {SplitKind::kDelimitedKeyPrefix, "DelimitedKeyPrefixRegionSplitPolicy", "DelimitedKeyPrefix"},
};

Result<SplitKind> SplitKindOf(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with(kSplitPackage)) name.remove_prefix(kSplitPackage.size());
  const std::string upper = Upper(name);
  if (upper == "DEFAULT") return SplitKind::kDefault;
  std::string known = "DEFAULT";
  for (const SplitClass& one : kSplitClasses) {
    if (upper == Upper(one.name) || upper == Upper(one.short_name)) return one.kind;
    known += ", " + std::string(one.name);
  }
  return Status::Unsupported(std::string(kSplitPolicy) + " '" + std::string(text) +
                             "': expected one of " + known);
}

// HBase's describe prints "65536 B (64KB)" and "86400 SECONDS (1 DAY)". Returns the part before the
// parentheses.
std::string_view WithoutRemark(std::string_view text) {
  if (text.ends_with(')')) text = text.substr(0, text.find('('));
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

int64_t SecondsOf(const std::string& unit) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"SECOND", 1}, {"MINUTE", 60}, {"HOUR", 3600}, {"DAY", 86400}, {"WEEK", 604800}};
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name || unit == std::string(name) + "S" || unit == name.substr(0, 1))
      return seconds;
  }
  return 0;
}

// Returns the seconds of "180", "3d", "1 DAYS 12 HOURS" or "86400 SECONDS (1 DAY)".
std::optional<int64_t> ReadSeconds(std::string_view text) {
  text = WithoutRemark(text);
  int64_t sum = 0;
  do {
    int64_t v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc() || v < 0) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty() && sum == 0) return v;  // no unit: seconds
    while (text.starts_with(' ')) text.remove_prefix(1);
    const size_t size = std::min(text.find_first_of(" 0123456789"), text.size());
    const int64_t unit = SecondsOf(Upper(text.substr(0, size)));
    if (unit == 0 || v > (kTtlForever - sum) / unit) return std::nullopt;
    sum += v * unit;
    text.remove_prefix(size);
    while (text.starts_with(' ')) text.remove_prefix(1);
  } while (!text.empty());
  return sum;
}

Status SetTtl(std::string_view name, std::string_view text, FamilyDescriptor* family) {
  const auto seconds = Upper(text) == "FOREVER" ? kTtlForever : ReadSeconds(text);
  if (!seconds || *seconds < 1 || *seconds > kTtlForever) {
    return Bad(name, text,
               "FOREVER, or 1 to 2147483647 seconds, as a number or with units as in 90m or 3d");
  }
  family->ttl_s = *seconds;
  return {};
}

Status SetBlockSize(std::string_view name, std::string_view text, FamilyDescriptor* family) {
  std::string_view number = WithoutRemark(text);
  if (number.ends_with(" B")) number.remove_suffix(2);
  return SetNumber(name, number, 1024, kBlockSizeMax,
                   [family](int64_t v) { family->block_size = static_cast<uint32_t>(v); });
}

Status SetBloomFilter(std::string_view name, std::string_view text, FamilyDescriptor* family) {
  const std::string word = Upper(text);
  if (word == "ROWCOL" || word == "ROWPREFIX_FIXED_LENGTH") {
    return Status::Unsupported(std::string(name) + " '" + word + "': expected NONE or ROW");
  }
  if (word != "NONE" && word != "ROW") return Bad(name, text, "NONE or ROW");
  family->bloom_filter = word == "ROW" ? BloomFilter::kRow : BloomFilter::kNone;
  return {};
}

constexpr FamilyAttribute kAttributes[] = {
    {"VERSIONS", "--versions", "N", "number of newest versions of a cell that are kept",
     [](auto name, auto text, auto* f) {
       return SetNumber(name, text, 1, INT32_MAX,
                        [f](int64_t v) { f->versions = static_cast<int32_t>(v); });
     },
     [](const auto& f) { return std::to_string(f.versions); }},
    {"MIN_VERSIONS", "--min-versions", "N", "number of versions that are kept after their TTL",
     [](auto name, auto text, auto* f) {
       return SetNumber(name, text, 0, INT32_MAX,
                        [f](int64_t v) { f->min_versions = static_cast<int32_t>(v); });
     },
     [](const auto& f) { return std::to_string(f.min_versions); }},
    {"TTL", "--ttl", "TIME",
     "how long cells are kept: seconds, a time such as 90m or 3d, or FOREVER", SetTtl,
     [](const auto& f) {
       return f.ttl_s == kTtlForever ? std::string("FOREVER") : std::to_string(f.ttl_s);
     }},
    {"KEEP_DELETED_CELLS", "--keep-deleted-cells", "true|false",
     "whether reads of earlier times see cells that were deleted since",
     [](auto name, auto text, auto* f) -> Status {
       if (Upper(text) == "TTL") {
         return Status::Unsupported(std::string(name) + " 'TTL': expected true or false");
       }
       return SetBool(name, text, &f->keep_deleted_cells);
     },
     [](const auto& f) { return std::string(Text(f.keep_deleted_cells)); }},
    {"NEW_VERSION_BEHAVIOR", "--new-version-behavior", "true|false",
     "whether a delete hides only cells that were written before it",
     [](auto name, auto text, auto* f) { return SetBool(name, text, &f->new_version_behavior); },
     [](const auto& f) { return std::string(Text(f.new_version_behavior)); }},
    {"COMPRESSION", "--compression", "NONE|SNAPPY|ZSTD", "compression of the files",
     [](auto, auto text, auto* f) -> Status {
       RETURN_IF_ERROR(CheckCompression(Upper(text)));
       f->compression = Upper(text);
       return {};
     },
     [](const auto& f) { return f.compression; }},
    {"DATA_BLOCK_ENCODING", "--data-block-encoding", "NONE|PREFIX|DIFF|FAST_DIFF|ROW_INDEX_V1",
     "kept for HBase only: files always store keys without their common prefix",
     [](auto, auto text, auto* f) -> Status {
       RETURN_IF_ERROR(CheckEncoding(Upper(text)));
       f->data_block_encoding = Upper(text);
       return {};
     },
     [](const auto& f) { return f.data_block_encoding; }},
    {"BLOOMFILTER", "--bloomfilter", "NONE|ROW", "whether files have a filter of row keys",
     SetBloomFilter,
     [](const auto& f) {
       return std::string(f.bloom_filter == BloomFilter::kRow ? "ROW" : "NONE");
     }},
    {"IN_MEMORY", "--in-memory", "true|false",
     "whether blocks of the family stay longest in the block cache",
     [](auto name, auto text, auto* f) { return SetBool(name, text, &f->in_memory); },
     [](const auto& f) { return std::string(Text(f.in_memory)); }},
    {"BLOCKCACHE", "--blockcache", "true|false", "whether blocks of the family are cached at all",
     [](auto name, auto text, auto* f) { return SetBool(name, text, &f->block_cache); },
     [](const auto& f) { return std::string(Text(f.block_cache)); }},
    {"BLOCKSIZE", "--blocksize", "BYTES", "size of a block before compression", SetBlockSize,
     [](const auto& f) { return std::to_string(f.block_size); }},
};

// Attributes of HBase's families that this store lacks, with the value that turns them off. HBase's
// shell prints them when it describes a table.
constexpr std::pair<std::string_view, std::string_view> kWithoutEffect[] = {
    {"REPLICATION_SCOPE", "0"},
    {"CACHE_DATA_ON_WRITE", "FALSE"},
    {"CACHE_INDEX_ON_WRITE", "FALSE"},
    {"CACHE_BLOOMS_ON_WRITE", "FALSE"},
    {"EVICT_BLOCKS_ON_CLOSE", "FALSE"},
    {"PREFETCH_BLOCKS_ON_OPEN", "FALSE"},
    {"IN_MEMORY_COMPACTION", "NONE"},
    {"DFS_REPLICATION", "0"},
    {"IS_MOB", "FALSE"},
};

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
  return Prepend(CheckSplitPolicy(table), "table '" + table.name + "'");
}

bool SameDescriptor(const TableDescriptor& there, const TableDescriptor& wanted) {
  const bool same_policy =
      wanted.split_policy == TableSplitPolicy() || wanted.split_policy == there.split_policy;
  return same_policy && there.name == wanted.name && there.points == wanted.points &&
         std::is_permutation(there.families.begin(), there.families.end(), wanted.families.begin(),
                             wanted.families.end());
}

std::span<const FamilyAttribute> FamilyAttributes() { return kAttributes; }

Status SetAttribute(std::string_view name, std::string_view text, FamilyDescriptor* family) {
  const std::string key = Upper(name);
  for (const FamilyAttribute& attribute : kAttributes) {
    if (attribute.name == key) return attribute.set(key, text, family);
  }
  for (const auto& [known, off] : kWithoutEffect) {
    if (known != key) continue;
    if (Upper(text) == off) return {};
    return Status::Unsupported(key + " '" + std::string(text) +
                               "': Hourglass does not support this attribute of HBase");
  }
  return Status::InvalidArgument(std::string(name) + " '" + std::string(text) +
                                 "': there is no such attribute of a family");
}

Status SetSplitPolicy(const TableAttributes& attributes, TableSplitPolicy* policy) {
  const auto find = [&](std::string_view name) -> const std::string* {
    const auto at = std::find_if(attributes.begin(), attributes.end(), [&](const auto& attribute) {
      return Upper(attribute.first) == Upper(name);
    });
    return at == attributes.end() ? nullptr : &at->second;
  };
  TableSplitPolicy wanted = *policy;
  if (const std::string* const name = find(kSplitPolicy)) {
    wanted = {};
    ASSIGN_OR_RETURN(wanted.kind, SplitKindOf(*name));
  }
  if (const std::string* const length = find(kSplitPrefixLength)) {
    RETURN_IF_ERROR(SetNumber(kSplitPrefixLength, *length, 1, kSplitPrefixMax,
                              [&](int64_t v) { wanted.prefix_length = static_cast<uint32_t>(v); }));
  }
  if (const std::string* const delimiter = find(kSplitDelimiter)) wanted.delimiter = *delimiter;
  *policy = std::move(wanted);
  return {};
}

Status CheckSplitPolicy(const TableDescriptor& table) {
  const TableSplitPolicy& policy = table.split_policy;
  const bool by_prefix = policy.kind == SplitKind::kKeyPrefix;
  const bool by_delimiter = policy.kind == SplitKind::kDelimitedKeyPrefix;
  const std::string length = std::to_string(policy.prefix_length);
  if (by_prefix) {
    RETURN_IF_ERROR(SetNumber(kSplitPrefixLength, length, 1, kSplitPrefixMax, [](int64_t) {}));
  } else if (policy.prefix_length != 0) {
    return Bad(kSplitPrefixLength, length, "only with SPLIT_POLICY KeyPrefixRegionSplitPolicy");
  }
  if (by_delimiter && (policy.delimiter.empty() || policy.delimiter.size() > kSplitDelimiterMax)) {
    return Bad(kSplitDelimiter, policy.delimiter,
               "1 to " + std::to_string(kSplitDelimiterMax) + " bytes");
  }
  if (!by_delimiter && !policy.delimiter.empty()) {
    return Bad(kSplitDelimiter, policy.delimiter,
               "only with SPLIT_POLICY DelimitedKeyPrefixRegionSplitPolicy");
  }
  if (table.points && (by_prefix || by_delimiter)) {
    return Status::InvalidArgument(
        std::string(kSplitPolicy) +
        ": the table of points cannot have a policy by prefix, because the rows of one metric and "
        "hour always stay in one region");
  }
  return {};
}

TableAttributes DescribeSplitPolicy(const TableSplitPolicy& policy) {
  TableAttributes attributes;
  for (const SplitClass& one : kSplitClasses) {
    if (one.kind != policy.kind) continue;
    attributes.emplace_back(kSplitPolicy, std::string(kSplitPackage) + std::string(one.name));
  }
  if (policy.prefix_length != 0) {
    attributes.emplace_back(kSplitPrefixLength, std::to_string(policy.prefix_length));
  }
  if (!policy.delimiter.empty()) attributes.emplace_back(kSplitDelimiter, policy.delimiter);
  return attributes;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string DescribeFamily(const FamilyDescriptor& family) {
  std::string text = "NAME => " + Quoted(family.name);
  for (const FamilyAttribute& attribute : kAttributes) {
    text += ", " + std::string(attribute.name) + " => " + Quoted(attribute.text(family));
  }
  return text;
}

bool FitsPoints(const FamilyDescriptor& family) {
  return family.versions == 1 && !family.keep_deleted_cells && !family.new_version_behavior;
}

}  // namespace hg::lsm
