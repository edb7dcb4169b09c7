#include "uid/metadata.h"

#include <algorithm>

#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "uid/cell_costs.h"
#include "uid/metadata_json.h"

namespace hg::uid {
namespace {

/// Returns the qualifier of an id's object. For metrics it is "metric_meta", although the qualifier
/// of the mapping is "metrics".
Bytes UidMetaQualifier(UidKind kind) {
  return kind == UidKind::kMetric ? "metric_meta" : std::string(UidKindName(kind)) + "_meta";
}

bool Said(const MetaText& text) { return text != ""; }

Status NoSeries() { return Status::NotFound("Could not find Timeseries meta data"); }

/// Returns the earlier of the known creation times.
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

bool HasPairs(const KeyLayout& layout, ByteView tsuid, const std::vector<Bytes>& pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const Bytes& pair) {
    for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
         at += static_cast<size_t>(layout.pair_width()))
      if (tsuid.substr(at, pair.size()) == pair) return true;
    return false;
  });
}

Status CheckSize(size_t bytes) {
  if (bytes <= kObjectBytesMax) return {};
  return Status::LimitExceeded("the object would have at least " + std::to_string(bytes) +
                               " bytes; at most " + std::to_string(kObjectBytesMax) +
                               " are stored");
}

size_t TextBytes(std::initializer_list<const MetaText*> texts,
                 const std::optional<MetaFields>& custom) {
  size_t bytes = 0;
  for (const MetaText* text : texts)
    if (*text) bytes += (*text)->size();
  if (custom)
    for (const auto& [key, value] : *custom) bytes += key.size() + value.size();
  return bytes;
}

}  // namespace

Status CheckObjectSize(const std::string& json) { return CheckSize(json.size()); }

Status CheckTextSizes(std::initializer_list<const std::string*> texts) {
  size_t bytes = 0;
  for (const std::string* text : texts) bytes += text->size();
  return CheckSize(bytes);
}

Status CheckTextSizes(const UidMeta& object) {
  return CheckSize(
      TextBytes({&object.display_name, &object.description, &object.notes}, object.custom));
}

Status CheckTextSizes(const TsMeta& object) {
  return CheckSize(TextBytes(
      {&object.display_name, &object.description, &object.notes, &object.units, &object.data_type},
      object.custom));
}

int64_t BytesOf(const UidMeta& meta) {
  size_t bytes = sizeof meta + meta.id.size() + meta.name.size();
  for (const MetaText* text : {&meta.display_name, &meta.description, &meta.notes})
    if (*text) bytes += (*text)->size();
  if (meta.custom)
    for (const auto& [key, value] : *meta.custom)
      bytes += sizeof(MetaFields::value_type) + key.size() + value.size();
  return static_cast<int64_t>(bytes);
}

int64_t BytesOf(const TsMeta& meta) {
  size_t bytes = sizeof meta - sizeof meta.metric + meta.tsuid.size();
  for (const MetaText* text :
       {&meta.display_name, &meta.description, &meta.notes, &meta.units, &meta.data_type})
    if (*text) bytes += (*text)->size();
  if (meta.custom)
    for (const auto& [key, value] : *meta.custom)
      bytes += sizeof(MetaFields::value_type) + key.size() + value.size();
  auto all = static_cast<int64_t>(bytes) + BytesOf(meta.metric);
  for (const UidMeta& tag : meta.tags) all += BytesOf(tag);
  return all;
}

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

// Returns the object of an id with its name and default values.
Result<UidMeta> Metadata::FindName(UidKind kind, const Bytes& id, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  UidMeta meta;
  meta.kind = kind;
  meta.id = id;
  ASSIGN_OR_RETURN(meta.name, names_.NameOf(kind, id));
  return meta;
}

Result<UidMeta> Metadata::FindUid(UidKind kind, const Bytes& id, RequestContext& context) {
  ASSIGN_OR_RETURN(UidMeta meta, FindName(kind, id, context));
  ASSIGN_OR_RETURN(const Row row,
                   store_.Get(options_.uid_table, id, kMetaFamily, {UidMetaQualifier(kind)}));
  if (row.empty()) return meta;
  RETURN_IF_ERROR(context.Step(row.cells.front().value.size()));
  RETURN_IF_ERROR(DecodeUidMeta(row.cells.front().value, &meta));
  return meta;
}

Result<std::optional<UidMeta>> Metadata::WriteUid(const UidMeta& request, bool replace,
                                                  RequestContext& context) {
  if (!request.HasChanges()) return std::optional<UidMeta>();
  RETURN_IF_ERROR(CheckTextSizes(request));
  const Bytes qualifier = UidMetaQualifier(request.kind);
  ASSIGN_OR_RETURN(const std::string name, names_.NameOf(request.kind, request.id));
  for (int attempt = 0; attempt < kWriteAttempts; ++attempt) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    ASSIGN_OR_RETURN(const Row row,
                     store_.Get(options_.uid_table, request.id, kMetaFamily, {qualifier}));
    UidMeta merged = request;
    Expected expected;
    if (!row.empty()) {
      UidMeta stored;
      expected = row.cells.front().value;
      RETURN_IF_ERROR(DecodeUidMeta(*expected, &stored));
      merged = Merge(request, stored, replace);
    }
    merged.name = name;
    const std::string object = EncodeUidMeta(merged);
    RETURN_IF_ERROR(CheckObjectSize(object));
    ASSIGN_OR_RETURN(
        const bool written,
        store_.CompareAndMutate(kMetaFamily, qualifier, expected, options_.uid_table,
                                {request.id, {PutCell(kMetaFamily, qualifier, object)}}));
    if (written) return std::optional<UidMeta>(std::move(merged));
  }
  return Status::Conflict("Other requests changed the metadata during each attempt to write it");
}

Status Metadata::DeleteUid(UidKind kind, const Bytes& id, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  return store_.Mutate(options_.uid_table,
                       {{id, {DeleteColumn(kMetaFamily, UidMetaQualifier(kind))}}});
}

Status Metadata::FillIds(IdDetail detail, TsMeta* meta, RequestContext& context) {
  const Status found = FindIds(detail, meta, context);
  if (found.code() != StatusCode::kNotFound) return found;
  return Status::Corruption(std::string(found.message()));
}

Status Metadata::FindIds(IdDetail detail, TsMeta* meta, RequestContext& context) {
  // A TSUID may have thousands of pairs, and each of them the object of a name.
  MemoryTally memory(&context);
  const KeyLayout& layout = options_.layout;
  const auto find = [&](UidKind kind, size_t at, int width) -> Result<UidMeta> {
    const Bytes id = meta->tsuid.substr(at, static_cast<size_t>(width));
    Result<UidMeta> found =
        detail == IdDetail::kObjects ? FindUid(kind, id, context) : FindName(kind, id, context);
    if (found.ok()) RETURN_IF_ERROR(memory.Add(BytesOf(*found)));
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
  // A counter alone is not metadata (opentsdb-schema.md §14.2).
  const Cell* object = row.Find(kTsMeta);
  if (object == nullptr) return NoSeries();
  TsMeta meta;
  meta.tsuid = row.key;
  RETURN_IF_ERROR(DecodeTsMeta(object->value, &meta));
  const Cell* counter = row.Find(kTsCounter);
  if (counter == nullptr) return meta;
  if (counter->value.size() == 8)
    meta.total_points = static_cast<int64_t>(ReadBig64(counter->value.data()));
  meta.last_received = counter->timestamp_ms / 1000;
  return meta;
}

Result<TsMeta> Metadata::FindSeries(const Bytes& tsuid, RequestContext& context, IdDetail detail) {
  // Invalid TSUIDs have no stored metadata.
  if (!codec::CheckTsuid(options_.layout, tsuid).ok()) return NoSeries();
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  ASSIGN_OR_RETURN(Row row,
                   store_.Get(options_.meta_table, tsuid, kMetaFamily, {kTsMeta, kTsCounter}));
  row.key = tsuid;
  ASSIGN_OR_RETURN(TsMeta meta, ReadSeries(row));
  RETURN_IF_ERROR(FillIds(detail, &meta, context));
  return meta;
}

Status Metadata::VisitSeries(const Bytes& metric, const std::vector<Bytes>& pairs,
                             const std::function<Status(const TsMeta&)>& visit,
                             RequestContext& context) {
  ScanSpec spec;
  spec.table = options_.meta_table;
  spec.family = kMetaFamily;
  spec.start = metric;
  spec.stop = AfterPrefix(metric);
  spec.qualifiers = {kTsMeta, kTsCounter};
  spec.batch_bytes = kFetchBytes;
  spec.context = &context;
  return ForEachRow(store_, spec, [&](const Row& row) -> Status {
    if (!codec::CheckTsuid(options_.layout, row.key).ok()) return {};
    RETURN_IF_ERROR(context.Step(pairs.size() * row.key.size()));
    if (row.Find(kTsMeta) == nullptr || !HasPairs(options_.layout, row.key, pairs)) return {};
    ASSIGN_OR_RETURN(TsMeta meta, ReadSeries(row));
    const Status found = FindIds(IdDetail::kObjects, &meta, context);
    if (found.code() == StatusCode::kNotFound) return {};
    RETURN_IF_ERROR(found);
    return visit(meta);
  });
}

Result<bool> Metadata::HasSeries(const Bytes& tsuid, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  ASSIGN_OR_RETURN(const Row row, store_.Get(options_.meta_table, tsuid, kMetaFamily, {kTsMeta}));
  return !row.empty();
}

Result<std::optional<TsMeta>> Metadata::WriteSeries(const TsMeta& request, bool replace,
                                                    RequestContext& context) {
  RETURN_IF_ERROR(codec::CheckTsuid(options_.layout, request.tsuid));
  if (!request.HasChanges()) return std::optional<TsMeta>();
  RETURN_IF_ERROR(CheckTextSizes(request));
  TsMeta ids;
  ids.tsuid = request.tsuid;
  RETURN_IF_ERROR(FillIds(IdDetail::kObjects, &ids, context));
  for (int attempt = 0; attempt < kWriteAttempts; ++attempt) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    ASSIGN_OR_RETURN(Row row, store_.Get(options_.meta_table, request.tsuid, kMetaFamily,
                                         {kTsMeta, kTsCounter}));
    row.key = request.tsuid;
    ASSIGN_OR_RETURN(const TsMeta stored, ReadSeries(row));
    TsMeta merged = Merge(request, stored, replace);
    merged.total_points = stored.total_points;
    merged.last_received = stored.last_received;
    merged.metric = ids.metric;
    merged.tags = ids.tags;
    const std::string object = EncodeTsMeta(merged);
    RETURN_IF_ERROR(CheckObjectSize(object));
    ASSIGN_OR_RETURN(
        const bool written,
        store_.CompareAndMutate(kMetaFamily, kTsMeta, row.Find(kTsMeta)->value, options_.meta_table,
                                {request.tsuid, {PutCell(kMetaFamily, kTsMeta, object)}}));
    if (written) return std::optional<TsMeta>(std::move(merged));
  }
  return Status::Conflict("Other requests changed the metadata during each attempt to write it");
}

Result<TsMeta> Metadata::CreateSeries(const TsMeta& request, RequestContext& context) {
  RETURN_IF_ERROR(codec::CheckTsuid(options_.layout, request.tsuid));
  RETURN_IF_ERROR(CheckTextSizes(request));
  TsMeta ids;
  ids.tsuid = request.tsuid;
  RETURN_IF_ERROR(FillIds(IdDetail::kObjects, &ids, context));
  const std::string object = EncodeTsMeta(request);
  RETURN_IF_ERROR(CheckObjectSize(object));
  RETURN_IF_ERROR(store_.Mutate(options_.meta_table,
                                {{request.tsuid, {PutCell(kMetaFamily, kTsMeta, object)}}}));
  const Result<int64_t> counter =
      store_.Increment(options_.meta_table, request.tsuid, kMetaFamily, kTsCounter, 0);
  if (!counter.ok()) return counter.status();
  return FindSeries(request.tsuid, context);
}

Status Metadata::DeleteSeries(const Bytes& tsuid, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  return store_.Mutate(options_.meta_table, {{tsuid, {DeleteColumn(kMetaFamily, kTsMeta)}}});
}

Status StoreFreshUidMeta(Store& store, const std::string& uid_table, UidKind kind, const Bytes& id,
                         int64_t created_s) {
  UidMeta meta;
  meta.kind = kind;
  meta.created = created_s;
  return store.Mutate(uid_table,
                      {{id, {PutCell(kMetaFamily, UidMetaQualifier(kind), EncodeUidMeta(meta))}}});
}

}  // namespace hg::uid
