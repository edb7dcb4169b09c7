#include "uid/metadata.h"

#include <algorithm>

#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "uid/metadata_json.h"

namespace hg::uid {
namespace {

const Bytes kFamily = "name";
const Bytes kTsMeta = "ts_meta";
const Bytes kTsCounter = "ts_ctr";

// Attempts of one write before it gives up: each lost one means that another writer succeeded.
constexpr int kWriteAttempts = 10;

/// Qualifier of an id's object: "metric_meta", although the mapping's qualifier is "metrics".
Bytes UidMetaQualifier(UidKind kind) {
  return kind == UidKind::kMetric ? "metric_meta" : std::string(UidKindName(kind)) + "_meta";
}

bool Said(const MetaText& text) { return text != ""; }

Status NoSeries() { return Status::NotFound("Could not find Timeseries meta data"); }

/// The earlier creation that is known.
int64_t MergeCreated(int64_t request, int64_t stored) {
  return stored > 0 && (request == 0 || stored < request) ? stored : request;
}

void MergeText(const MetaText& stored, MetaText* text) {
  if (!Said(*text)) *text = stored;
}

UidMeta Merge(UidMeta request, const UidMeta& stored, bool replace) {
  request.created = MergeCreated(request.created, stored.created);
  if (replace) return request;
  MergeText(stored.display_name, &request.display_name);
  MergeText(stored.description, &request.description);
  MergeText(stored.notes, &request.notes);
  if (!request.custom) request.custom = stored.custom;
  return request;
}

TsMeta Merge(TsMeta request, const TsMeta& stored, bool replace) {
  request.created = MergeCreated(request.created, stored.created);
  if (replace) return request;
  MergeText(stored.display_name, &request.display_name);
  MergeText(stored.description, &request.description);
  MergeText(stored.notes, &request.notes);
  MergeText(stored.units, &request.units);
  MergeText(stored.data_type, &request.data_type);
  if (!request.custom) request.custom = stored.custom;
  if (request.retention == 0) request.retention = stored.retention;
  if (!request.max_said) request.max = stored.max;
  if (!request.min_said) request.min = stored.min;
  return request;
}

const Cell* FindCell(const Row& row, const Bytes& qualifier) {
  for (const Cell& cell : row.cells)
    if (cell.qualifier == qualifier) return &cell;
  return nullptr;
}

bool HasPairs(const KeyLayout& layout, ByteView tsuid, const std::vector<Bytes>& pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const Bytes& pair) {
    for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
         at += static_cast<size_t>(layout.pair_width()))
      if (tsuid.substr(at, pair.size()) == pair) return true;
    return false;
  });
}

}  // namespace

bool UidMeta::HasChanges() const {
  return Said(display_name) || Said(description) || Said(notes) || created != 0 ||
         custom.has_value();
}

bool TsMeta::HasChanges() const {
  return Said(display_name) || Said(description) || Said(notes) || Said(units) || Said(data_type) ||
         created != 0 || custom.has_value() || retention != 0 || max_said || min_said;
}

Metadata::Metadata(Store& store, Names& names, MetadataOptions options)
    : store_(store), names_(names), options_(std::move(options)) {}

Result<UidMeta> Metadata::FindUid(UidKind kind, const Bytes& id) {
  UidMeta meta;
  meta.kind = kind;
  meta.id = id;
  ASSIGN_OR_RETURN(meta.name, names_.NameOf(kind, id));
  ASSIGN_OR_RETURN(const Row row,
                   store_.Get(options_.uid_table, id, kFamily, {UidMetaQualifier(kind)}));
  if (!row.empty()) RETURN_IF_ERROR(DecodeUidMeta(row.cells.front().value, &meta));
  return meta;
}

Result<std::optional<UidMeta>> Metadata::WriteUid(const UidMeta& request, bool replace) {
  if (!request.HasChanges()) return std::optional<UidMeta>();
  const Bytes qualifier = UidMetaQualifier(request.kind);
  ASSIGN_OR_RETURN(const std::string name, names_.NameOf(request.kind, request.id));
  for (int attempt = 0; attempt < kWriteAttempts; ++attempt) {
    ASSIGN_OR_RETURN(const Row row,
                     store_.Get(options_.uid_table, request.id, kFamily, {qualifier}));
    UidMeta merged = request;
    Expected expected;
    if (!row.empty()) {
      UidMeta stored;
      expected = row.cells.front().value;
      RETURN_IF_ERROR(DecodeUidMeta(*expected, &stored));
      merged = Merge(request, stored, replace);
    }
    merged.name = name;
    ASSIGN_OR_RETURN(const bool written,
                     store_.CompareAndMutate(
                         kFamily, qualifier, expected, options_.uid_table,
                         {request.id, {PutCell(kFamily, qualifier, EncodeUidMeta(merged))}}));
    if (written) return std::optional<UidMeta>(std::move(merged));
  }
  return Status::Conflict("The metadata was changed by others again and again");
}

Status Metadata::DeleteUid(UidKind kind, const Bytes& id) {
  return store_.Mutate(options_.uid_table, {{id, {DeleteColumn(kFamily, UidMetaQualifier(kind))}}});
}

Status Metadata::FillIds(TsMeta* meta) {
  const KeyLayout& layout = options_.layout;
  const auto find = [&](UidKind kind, size_t at, int width) -> Result<UidMeta> {
    Result<UidMeta> found = FindUid(kind, meta->tsuid.substr(at, static_cast<size_t>(width)));
    if (found.status().code() == StatusCode::kNotFound)
      return Status::Corruption(std::string(found.status().message()));
    return found;
  };
  ASSIGN_OR_RETURN(meta->metric, find(UidKind::kMetric, 0, layout.metric_width));
  meta->tags.clear();
  for (size_t at = static_cast<size_t>(layout.metric_width); at < meta->tsuid.size();
       at += static_cast<size_t>(layout.pair_width())) {
    ASSIGN_OR_RETURN(UidMeta key, find(UidKind::kTagk, at, layout.tagk_width));
    ASSIGN_OR_RETURN(
        UidMeta value,
        find(UidKind::kTagv, at + static_cast<size_t>(layout.tagk_width), layout.tagv_width));
    meta->tags.push_back(std::move(key));
    meta->tags.push_back(std::move(value));
  }
  return {};
}

Result<TsMeta> Metadata::ReadSeries(const Row& row) {
  // A counter alone is no metadata (§14.2).
  const Cell* object = FindCell(row, kTsMeta);
  if (object == nullptr) return NoSeries();
  TsMeta meta;
  meta.tsuid = row.key;
  RETURN_IF_ERROR(DecodeTsMeta(object->value, &meta));
  const Cell* counter = FindCell(row, kTsCounter);
  if (counter == nullptr) return meta;
  if (counter->value.size() == 8)
    meta.total_points = static_cast<int64_t>(ReadBig64(counter->value.data()));
  meta.last_received = counter->timestamp_ms / 1000;
  return meta;
}

Result<TsMeta> Metadata::FindSeries(const Bytes& tsuid) {
  // Nothing is stored of what cannot be a series.
  if (!codec::CheckTsuid(options_.layout, tsuid).ok()) return NoSeries();
  ASSIGN_OR_RETURN(Row row, store_.Get(options_.meta_table, tsuid, kFamily, {}));
  row.key = tsuid;
  ASSIGN_OR_RETURN(TsMeta meta, ReadSeries(row));
  RETURN_IF_ERROR(FillIds(&meta));
  return meta;
}

Result<std::vector<TsMeta>> Metadata::ListSeries(const Bytes& metric,
                                                 const std::vector<Bytes>& pairs) {
  ScanSpec spec;
  spec.table = options_.meta_table;
  spec.family = kFamily;
  spec.start = metric;
  spec.stop = AfterPrefix(metric);
  std::vector<TsMeta> found;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) -> Status {
    if (!codec::CheckTsuid(options_.layout, row.key).ok()) return {};
    if (FindCell(row, kTsMeta) == nullptr || !HasPairs(options_.layout, row.key, pairs)) return {};
    ASSIGN_OR_RETURN(TsMeta meta, ReadSeries(row));
    RETURN_IF_ERROR(FillIds(&meta));
    found.push_back(std::move(meta));
    return {};
  }));
  return found;
}

Result<bool> Metadata::HasSeries(const Bytes& tsuid) {
  ASSIGN_OR_RETURN(const Row row, store_.Get(options_.meta_table, tsuid, kFamily, {kTsMeta}));
  return !row.empty();
}

Result<std::optional<TsMeta>> Metadata::WriteSeries(const TsMeta& request, bool replace) {
  RETURN_IF_ERROR(codec::CheckTsuid(options_.layout, request.tsuid));
  if (!request.HasChanges()) return std::optional<TsMeta>();
  TsMeta ids;
  ids.tsuid = request.tsuid;
  RETURN_IF_ERROR(FillIds(&ids));
  for (int attempt = 0; attempt < kWriteAttempts; ++attempt) {
    ASSIGN_OR_RETURN(Row row, store_.Get(options_.meta_table, request.tsuid, kFamily, {}));
    row.key = request.tsuid;
    ASSIGN_OR_RETURN(const TsMeta stored, ReadSeries(row));
    TsMeta merged = Merge(request, stored, replace);
    merged.total_points = stored.total_points;
    merged.last_received = stored.last_received;
    merged.metric = ids.metric;
    merged.tags = ids.tags;
    ASSIGN_OR_RETURN(const bool written,
                     store_.CompareAndMutate(
                         kFamily, kTsMeta, FindCell(row, kTsMeta)->value, options_.meta_table,
                         {request.tsuid, {PutCell(kFamily, kTsMeta, EncodeTsMeta(merged))}}));
    if (written) return std::optional<TsMeta>(std::move(merged));
  }
  return Status::Conflict("The metadata was changed by others again and again");
}

Result<TsMeta> Metadata::CreateSeries(const TsMeta& request) {
  RETURN_IF_ERROR(codec::CheckTsuid(options_.layout, request.tsuid));
  TsMeta ids;
  ids.tsuid = request.tsuid;
  RETURN_IF_ERROR(FillIds(&ids));
  RETURN_IF_ERROR(store_.Mutate(
      options_.meta_table, {{request.tsuid, {PutCell(kFamily, kTsMeta, EncodeTsMeta(request))}}}));
  const Result<int64_t> counter =
      store_.Increment(options_.meta_table, request.tsuid, kFamily, kTsCounter, 0);
  if (!counter.ok()) return counter.status();
  return FindSeries(request.tsuid);
}

Status Metadata::DeleteSeries(const Bytes& tsuid) {
  return store_.Mutate(options_.meta_table, {{tsuid, {DeleteColumn(kFamily, kTsMeta)}}});
}

Status StoreFreshUidMeta(Store& store, const std::string& uid_table, UidKind kind, const Bytes& id,
                         int64_t created_s) {
  UidMeta meta;
  meta.kind = kind;
  meta.created = created_s;
  return store.Mutate(uid_table,
                      {{id, {PutCell(kFamily, UidMetaQualifier(kind), EncodeUidMeta(meta))}}});
}

}  // namespace hg::uid
