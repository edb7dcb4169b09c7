#include "storage/lsm/manifest.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"
#include "storage/lsm/block_layout.h"
#include "storage/lsm/table_attributes.h"

namespace hg::lsm {
namespace {

constexpr ByteView kMagic{"HGMAN\0\0", 7};  // followed by one byte with the version
constexpr int kVersion = 7;
// This version has no split policies and no numbers of forgotten series. It is written as long as a
// store has neither, so that an older program can read the store.
constexpr int kVersionBefore = 6;

// Flags of a PartEntry.
constexpr uint64_t kReference = 1, kTombstones = 2, kLoose = 4, kInNamespace = 8, kPartFlags = 15;

constexpr uint64_t kKeepDeleted = 1, kNewVersions = 2, kInMemory = 4, kUncached = 8, kBloom = 16;
constexpr uint64_t kFamilyFlags = 31;

// Reads fields in order. After a failure all fields read as zero and ok() is false.
class Reader {
 public:
  explicit Reader(ByteView in) : in_(in) {}
  uint64_t Number() {
    uint64_t v = 0;
    ok_ = ok_ && GetVarint64(&in_, &v);
    return ok_ ? v : 0;
  }
  Bytes Text() {
    const uint64_t size = Number();
    ok_ = ok_ && size <= in_.size();
    if (!ok_) return {};
    Bytes text(in_.substr(0, size));
    in_.remove_prefix(size);
    return text;
  }
  // Reads a number of items that take at least one byte each.
  uint64_t Count() {
    const uint64_t n = Number();
    ok_ = ok_ && n <= in_.size();
    return ok_ ? n : 0;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return in_.empty(); }

 private:
  ByteView in_;
  bool ok_ = true;
};

// Returns the version of a complete manifest, or 0 if the bytes are not a complete manifest.
int VersionOf(ByteView in) {
  if (in.size() <= kMagic.size() + kCrcBytes || !in.starts_with(kMagic)) return 0;
  uint32_t crc = 0;
  for (size_t i = kCrcBytes; i > 0; --i) crc = crc << 8 | ByteAt(in, in.size() - kCrcBytes - 1 + i);
  return crc == crc32c::Value(in.substr(0, in.size() - kCrcBytes)) ? ByteAt(in, kMagic.size()) : 0;
}

void AppendFamily(Bytes* out, const FamilyDescriptor& family) {
  AppendSized(out, family.name);
  const uint64_t flags = (family.keep_deleted_cells ? kKeepDeleted : 0) |
                         (family.new_version_behavior ? kNewVersions : 0) |
                         (family.in_memory ? kInMemory : 0) | (family.block_cache ? 0 : kUncached) |
                         (family.bloom_filter == BloomFilter::kRow ? kBloom : 0);
  for (const uint64_t v :
       {static_cast<uint64_t>(family.versions), static_cast<uint64_t>(family.min_versions),
        static_cast<uint64_t>(family.ttl_s), flags, uint64_t{family.block_size}}) {
    AppendVarint(out, v);
  }
  AppendSized(out, family.compression);
  AppendSized(out, family.data_block_encoding);
}

bool ReadFamily(Reader* r, FamilyDescriptor* family) {
  family->name = r->Text();
  family->versions = static_cast<int32_t>(r->Number());
  family->min_versions = static_cast<int32_t>(r->Number());
  family->ttl_s = static_cast<int64_t>(r->Number());
  const uint64_t flags = r->Number();
  family->keep_deleted_cells = (flags & kKeepDeleted) != 0;
  family->new_version_behavior = (flags & kNewVersions) != 0;
  family->in_memory = (flags & kInMemory) != 0;
  family->block_cache = (flags & kUncached) == 0;
  family->bloom_filter = (flags & kBloom) != 0 ? BloomFilter::kRow : BloomFilter::kNone;
  family->block_size = static_cast<uint32_t>(r->Number());
  family->compression = r->Text();
  family->data_block_encoding = r->Text();
  return flags <= kFamilyFlags;
}

/// Returns whether a row key can have these widths.
bool Possible(const KeyLayout& layout) {
  const auto id = [](int width) { return width >= 1 && width <= 8; };
  return id(layout.metric_width) && id(layout.tagk_width) && id(layout.tagv_width) &&
         layout.salt_width >= 0 && layout.salt_width <= 8 && layout.salt_buckets >= 1 &&
         (layout.salt_width == 0 || layout.salt_buckets <= kSaltBucketsMax);
}

std::string NamespaceOfTable(const Manifest& m, uint32_t id) {
  const auto at = std::find_if(m.tables.begin(), m.tables.end(),
                               [id](const TableEntry& table) { return table.id == id; });
  return at == m.tables.end() ? "" : std::string(NamespaceOf(at->name));
}

}  // namespace

Bytes EncodeManifest(const Manifest& m) {
  Bytes out(kMagic);
  const bool extended = m.forgotten_series > 0 ||
                        std::any_of(m.tables.begin(), m.tables.end(), [](const TableEntry& table) {
                          return table.split_policy != TableSplitPolicy();
                        });
  out.push_back(static_cast<char>(extended ? kVersion : kVersionBefore));
  for (const int width : {m.layout.metric_width, m.layout.tagk_width, m.layout.tagv_width,
                          m.layout.salt_width, m.layout.salt_buckets}) {
    AppendVarint(&out, static_cast<uint64_t>(width));
  }
  for (const uint64_t v :
       {m.next_number, m.flushed, m.log_file, m.log_position, ZigZag(m.stamp_floor_ms),
        uint64_t{m.next_table}, uint64_t{m.next_region}}) {
    AppendVarint(&out, v);
  }
  AppendVarint(&out, m.logs.size());
  for (const LogFile& file : m.logs) {
    AppendVarint(&out, file.number);
    AppendVarint(&out, file.first_sequence);
  }
  AppendVarint(&out, m.tables.size());
  for (const TableEntry& table : m.tables) {
    AppendVarint(&out, table.id);
    AppendSized(&out, table.name);
    AppendVarint(&out, table.points ? 1 : 0);
    AppendVarint(&out, table.families.size());
    for (const FamilyDescriptor& family : table.families) AppendFamily(&out, family);
    AppendVarint(&out, table.regions.size());
    for (const RegionEntry& region : table.regions) {
      AppendVarint(&out, region.id);
      AppendSized(&out, region.start);
    }
    if (!extended) continue;
    AppendVarint(&out, static_cast<uint64_t>(table.split_policy.kind));
    AppendVarint(&out, table.split_policy.prefix_length);
    AppendSized(&out, table.split_policy.delimiter);
  }
  AppendVarint(&out, m.parts.size());
  for (const PartEntry& part : m.parts) {
    for (const uint64_t v :
         {uint64_t{part.table}, uint64_t{part.region}, part.number, part.first_sequence,
          part.last_sequence, part.cells_bytes, part.points_bytes, uint64_t{part.cells_crc},
          uint64_t{part.points_crc},
          (part.reference ? kReference : 0) | (part.tombstones ? kTombstones : 0) |
              (part.loose ? kLoose : 0) | (part.space.empty() ? 0 : kInNamespace),
          ZigZag(part.made_ms), uint64_t{part.first_base}, uint64_t{part.last_base},
          uint64_t{part.rewrites}}) {
      AppendVarint(&out, v);
    }
  }
  if (extended) {
    AppendVarint(&out, m.series_end);
    AppendVarint(&out, m.forgotten_series);
  }
  const uint32_t crc = crc32c::Value(out);
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(crc >> (8 * i)));
  return out;
}

bool DecodeManifest(ByteView in, Manifest* m) {
  const int version = VersionOf(in);
  if (version != kVersion && version != kVersionBefore) return false;
  in.remove_suffix(kCrcBytes);
  Reader r(in.substr(kMagic.size() + 1));
  *m = Manifest();
  for (int* width : {&m->layout.metric_width, &m->layout.tagk_width, &m->layout.tagv_width,
                     &m->layout.salt_width, &m->layout.salt_buckets}) {
    *width = static_cast<int>(r.Number());
  }
  for (uint64_t* v : {&m->next_number, &m->flushed, &m->log_file, &m->log_position})
    *v = r.Number();
  m->stamp_floor_ms = UnZigZag(r.Number());
  m->next_table = static_cast<uint32_t>(r.Number());
  m->next_region = static_cast<uint32_t>(r.Number());
  m->logs.resize(r.Count());
  for (LogFile& file : m->logs) {
    file.number = r.Number();
    file.first_sequence = r.Number();
  }
  m->tables.resize(r.Count());
  for (TableEntry& table : m->tables) {
    table.id = static_cast<uint32_t>(r.Number());
    table.name = r.Text();
    table.points = r.Number() != 0;
    table.families.resize(r.Count());
    for (FamilyDescriptor& family : table.families) {
      if (!ReadFamily(&r, &family)) return false;
    }
    table.regions.resize(r.Count());
    for (RegionEntry& region : table.regions) {
      region.id = static_cast<uint32_t>(r.Number());
      region.start = r.Text();
    }
    if (version != kVersion) continue;
    const uint64_t kind = r.Number();
    if (kind > static_cast<uint64_t>(TableSplitPolicy::Kind::kDelimitedKeyPrefix)) return false;
    table.split_policy.kind = static_cast<TableSplitPolicy::Kind>(kind);
    table.split_policy.prefix_length = static_cast<uint32_t>(r.Number());
    table.split_policy.delimiter = r.Text();
  }
  m->parts.resize(r.Count());
  for (PartEntry& part : m->parts) {
    part.table = static_cast<uint32_t>(r.Number());
    part.region = static_cast<uint32_t>(r.Number());
    for (uint64_t* v : {&part.number, &part.first_sequence, &part.last_sequence, &part.cells_bytes,
                        &part.points_bytes}) {
      *v = r.Number();
    }
    part.cells_crc = static_cast<uint32_t>(r.Number());
    part.points_crc = static_cast<uint32_t>(r.Number());
    const uint64_t flags = r.Number();
    if (flags > kPartFlags) return false;
    part.reference = (flags & kReference) != 0;
    part.tombstones = (flags & kTombstones) != 0;
    part.made_ms = UnZigZag(r.Number());
    part.loose = (flags & kLoose) != 0;
    if ((flags & kInNamespace) != 0) part.space = NamespaceOfTable(*m, part.table);
    if ((flags & kInNamespace) != 0 && part.space.empty()) return false;
    part.first_base = static_cast<uint32_t>(r.Number());
    part.last_base = static_cast<uint32_t>(r.Number());
    part.rewrites = static_cast<uint32_t>(r.Number());
  }
  if (version == kVersion) {
    m->series_end = static_cast<uint32_t>(r.Number());
    m->forgotten_series = static_cast<uint32_t>(r.Number());
  }
  return r.ok() && r.at_end() && Possible(m->layout) && IsWhole(*m);
}

std::string NamespaceFolder(const std::string& store, const std::string& space) {
  return space.empty() ? store : store + "/" + kNamespacesName + "/" + space;
}

bool Tiles(const std::vector<RegionEntry>& regions) {
  if (regions.empty() || !regions[0].start.empty()) return false;
  std::set<uint32_t> ids;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (i > 0 && regions[i].start <= regions[i - 1].start) return false;
    if (!ids.insert(regions[i].id).second) return false;
  }
  return true;
}

bool IsWhole(const Manifest& manifest) {
  for (size_t i = 0; i < manifest.logs.size(); ++i) {
    const uint64_t least = i == 0 ? manifest.log_file : manifest.logs[i - 1].number + 1;
    if (manifest.logs[i].number < least) return false;
  }
  std::set<std::pair<uint32_t, uint32_t>> places = {{0, 0}};
  for (const TableEntry& table : manifest.tables) {
    if (!Tiles(table.regions)) return false;
    for (const RegionEntry& region : table.regions) {
      if (region.id >= manifest.next_region) return false;
      places.emplace(table.id, region.id);
    }
  }
  if (manifest.forgotten_series > manifest.series_end) return false;
  for (const PartEntry& part : manifest.parts) {
    if (!places.contains({part.table, part.region})) return false;
  }
  return true;
}

std::vector<RegionEntry> SaltRegions(const KeyLayout& layout) {
  std::vector<RegionEntry> regions = {RegionEntry{}};
  if (layout.salt_width == 0) return regions;
  // A salt has only salt_width bytes, which limits the number of different salts.
  const uint32_t fit = layout.salt_width < 3 ? 1U << (8 * layout.salt_width) : UINT32_MAX;
  const uint32_t count = std::min(static_cast<uint32_t>(layout.salt_buckets), fit);
  for (uint32_t bucket = 1; bucket < count; ++bucket) {
    regions.push_back({bucket, {}});
    AppendBig(&regions.back().start, bucket, layout.salt_width);
  }
  return regions;
}

Result<Manifest> ManifestFrom(ByteView content, const std::string& path) {
  Manifest manifest;
  if (DecodeManifest(content, &manifest)) return manifest;
  const int version = VersionOf(content);
  if (version == 0 || version == kVersion || version == kVersionBefore) {
    return Status::Corruption(path + " at 0: damaged, or not a manifest");
  }
  return Status::Unsupported(path + ": the manifest is of version " + std::to_string(version) +
                             ", written by " + (version > kVersion ? "a newer" : "an older") +
                             " program; this one reads the versions " +
                             std::to_string(kVersionBefore) + " and " + std::to_string(kVersion));
}

Result<Manifest> LoadManifest(FileSystem& files, const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files, path));
  return ManifestFrom(content, path);
}

Status SaveManifest(FileSystem& files, const std::string& folder, const Manifest& manifest) {
  INVARIANT(IsWhole(manifest));
  return ReplaceFile(files, folder, kManifestName, EncodeManifest(manifest));
}

}  // namespace hg::lsm
