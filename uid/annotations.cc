#include "uid/annotations.h"

#include <algorithm>
#include <utility>

#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "storage/model/timestamp.h"
#include "uid/cell_costs.h"

namespace hg::uid {
namespace {

const Bytes kPointFamily = "t";

// Cost of parsing the JSON of one annotation, in steps. Parsing one takes about a microsecond.
constexpr uint64_t kStepsPerAnnotation = 1 << 10;
// Maximum number of series that row filters locate. If there are more, all rows of their metric are
// read.
constexpr size_t kTemplatesMax = 32;

/// Returns the row base of a time in seconds, clamped to the range of row keys.
uint32_t BaseOf(int64_t seconds) {
  const int64_t clamped = std::clamp<int64_t>(seconds, 0, UINT32_MAX);
  return static_cast<uint32_t>(clamped - clamped % kRowSpan);
}

// Returns whether the series can have rows. OpenTSDB writes rows for TSUIDs with incomplete tag
// pairs, but Hourglass does not, so none can be found.
bool HasRows(const KeyLayout& layout, const Bytes& series) {
  return series.empty() || codec::CheckTsuid(layout, series).ok();
}

Status CheckSize(size_t bytes) {
  if (bytes <= kAnnotationBytesMax) return {};
  return Status::InvalidArgument("The annotation would have at least " + std::to_string(bytes) +
                                 " bytes; at most " + std::to_string(kAnnotationBytesMax) +
                                 " are allowed");
}

size_t TextBytes(const codec::Annotation& annotation) {
  size_t bytes = annotation.description.size() + annotation.notes.size();
  if (annotation.custom)
    for (const auto& [key, value] : *annotation.custom) bytes += key.size() + value.size();
  return bytes;
}

bool IsAnnotation(const Cell& cell) {
  return codec::ClassifyQualifier(cell.qualifier) == codec::CellClass::kAnnotation;
}

// Restricts the columns to those that may be annotations. Some of the remaining cells are not
// annotations.
void ChooseAnnotations(CellSelection* wanted) {
  wanted->column_min = Bytes(1, codec::kAnnotationPrefix);
  wanted->column_max = Bytes(1, codec::kAnnotationPrefix + 1);
}

/// Returns the memory of a row's annotations after decoding, including the growth of the list that
/// receives them.
int64_t BytesOfAnnotations(const Row& row) {
  size_t bytes = 0;
  for (const Cell& cell : row.cells) bytes += 2 * sizeof(codec::Annotation) + 2 * cell.value.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

struct Annotations::Place {
  Bytes tsuid;
  Bytes key;
  Bytes qualifier;
};

Result<Bytes> TsuidBytes(const KeyLayout& layout, const std::string& hex) {
  Bytes bytes;
  if (hex.empty()) return bytes;
  const std::string padded = hex.size() % 2 != 0 ? "0" + hex : hex;
  if (!FromHex(padded, &bytes))
    return Status::InvalidArgument("contains illegal character for hexBinary: " + padded);
  if (bytes.size() < static_cast<size_t>(layout.metric_width))
    return Status::Unsupported("TSUID " + hex + " is shorter than a metric's UID");
  return bytes;
}

Annotations::Annotations(Store& store, AnnotationsOptions options)
    : store_(store), options_(std::move(options)) {}

Bytes Annotations::KeyOf(ByteView tsuid, uint32_t base) const {
  return tsuid.empty() ? codec::MakeGlobalRowKey(options_.layout, base)
                       : codec::MakeRowKey(options_.layout, tsuid, base);
}

Result<Annotations::Place> Annotations::Locate(const std::string& tsuid, int64_t start_time) const {
  if (start_time < 1) return Status::InvalidArgument("The start timestamp has not been set");
  ASSIGN_OR_RETURN(const Bytes series, TsuidBytes(options_.layout, tsuid));
  codec::AnnotationPlace place = codec::PlaceAnnotation(start_time);
  if (!HasRows(options_.layout, series))
    return Status::NotFound("Unable to locate annotation in storage: TSUID " + tsuid +
                            " is not a metric's UID with complete tag pairs");
  return Place{series, KeyOf(series, place.base), std::move(place.qualifier)};
}

Result<codec::Annotation> Annotations::Find(const std::string& tsuid, int64_t start_time,
                                            RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  ASSIGN_OR_RETURN(const Place place, Locate(tsuid, start_time));
  ASSIGN_OR_RETURN(const Row row,
                   store_.Get(options_.table, place.key, kPointFamily, {place.qualifier}));
  if (row.empty()) return Status::NotFound("Unable to locate annotation in storage");
  return codec::DecodeAnnotation(row.cells.front().value);
}

Result<std::optional<codec::Annotation>> Annotations::Write(
    const codec::Annotation& request, bool replace, RequestContext& context,
    const std::function<Status(ByteView)>& admit) {
  if (request.start_time < 1)
    return Status::InvalidArgument("The start timestamp has not been set");
  // Row keys have 32 bits for the time. An annotation after them would be found at an earlier time.
  if (Timestamp{request.start_time}.seconds() > int64_t{UINT32_MAX})
    return Status::InvalidArgument("The start timestamp " + std::to_string(request.start_time) +
                                   " is after 2106-02-07T06:28:15Z");
  if (!codec::HasAnnotationChanges(request)) return std::optional<codec::Annotation>();
  // The texts may be as long as the body of a request. They are not copied if they are too long.
  RETURN_IF_ERROR(CheckSize(TextBytes(request)));
  Result<Place> located = Locate(request.tsuid, request.start_time);
  if (located.status().code() == StatusCode::kNotFound)
    return Status::InvalidArgument("TSUID " + request.tsuid +
                                   " is not a metric's UID with complete tag pairs");
  ASSIGN_OR_RETURN(const Place place, std::move(located));
  if (admit && !place.tsuid.empty()) RETURN_IF_ERROR(admit(place.tsuid));

  for (int attempt = 0; attempt < kWriteAttempts; ++attempt) {
    RETURN_IF_ERROR(context.Step(kStepsPerCell));
    ASSIGN_OR_RETURN(const Row row,
                     store_.Get(options_.table, place.key, kPointFamily, {place.qualifier}));
    codec::Annotation merged = request;
    Expected expected;
    if (!row.empty()) {
      expected = row.cells.front().value;
      ASSIGN_OR_RETURN(const codec::Annotation stored, codec::DecodeAnnotation(*expected));
      merged = codec::MergeAnnotation(request, stored, replace);
    }
    Bytes encoded = codec::EncodeAnnotation(merged);
    RETURN_IF_ERROR(CheckSize(encoded.size()));
    CellChange change = PutCell(kPointFamily, place.qualifier, std::move(encoded));
    if (options_.use_otsdb_timestamp) change.timestamp_ms = Timestamp{merged.start_time}.millis();
    ASSIGN_OR_RETURN(
        const bool written,
        store_.CompareAndMutate(kPointFamily, place.qualifier, expected, options_.table,
                                RowMutation{place.key, {std::move(change)}}));
    if (written) return std::optional<codec::Annotation>(std::move(merged));
  }
  return Status::Conflict("Other requests changed the annotation during each attempt to write it");
}

Status Annotations::Delete(const std::string& tsuid, int64_t start_time, RequestContext& context) {
  RETURN_IF_ERROR(context.Step(kStepsPerCell));
  Result<Place> located = Locate(tsuid, start_time);
  if (located.status().code() == StatusCode::kNotFound) return {};
  ASSIGN_OR_RETURN(const Place place, std::move(located));
  // A delete would register the series, so nothing is written if there is no annotation.
  ASSIGN_OR_RETURN(const Row row,
                   store_.Get(options_.table, place.key, kPointFamily, {place.qualifier}));
  if (row.empty()) return {};
  return store_.Mutate(options_.table,
                       {{place.key, {DeleteColumn(kPointFamily, place.qualifier)}}});
}

Result<std::vector<codec::Annotation>> Annotations::Globals(int64_t start_s, int64_t end_s,
                                                            RequestContext& context) {
  if (end_s < start_s)
    return Status::InvalidArgument("The end timestamp cannot be less than the start timestamp");
  ScanSpec spec;
  spec.table = options_.table;
  spec.family = kPointFamily;
  spec.start = KeyOf({}, BaseOf(start_s));
  // The scan stops just after the last hour, because rows of one base are followed by those of the
  // next base.
  spec.stop = KeyOf({}, BaseOf(std::min(end_s, int64_t{UINT32_MAX}))) + '\0';
  ChooseAnnotations(&spec);
  spec.batch_bytes = kFetchBytes;
  spec.context = &context;
  std::vector<codec::Annotation> found;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) -> Status {
    RETURN_IF_ERROR(context.Charge(BytesOfAnnotations(row)));
    for (const Cell& cell : row.cells) {
      if (!IsAnnotation(cell)) continue;
      RETURN_IF_ERROR(context.Step(kStepsPerAnnotation));
      ASSIGN_OR_RETURN(codec::Annotation annotation, codec::DecodeAnnotation(cell.value));
      if (annotation.start_time < start_s || annotation.end_time > end_s) continue;
      found.push_back(std::move(annotation));
    }
    return {};
  }));
  return found;
}

Result<uint64_t> Annotations::DeleteRange(const std::vector<std::string>& tsuids, int64_t start_ms,
                                          int64_t end_ms, RequestContext& context) {
  if (end_ms < start_ms)
    return Status::InvalidArgument("The end timestamp cannot be less than the start timestamp");
  const auto prefix_width =
      static_cast<size_t>(options_.layout.salt_width + options_.layout.metric_width);
  MemoryTally memory(&context);
  std::map<Bytes, Owners> by_prefix;  // by the prefix of row keys: salt and metric
  for (const std::string& tsuid : tsuids) {
    constexpr int64_t kNodesBytes = 2 * (sizeof(Owners) + 64);
    RETURN_IF_ERROR(memory.Step(64));
    RETURN_IF_ERROR(memory.Add(kNodesBytes + static_cast<int64_t>(tsuid.size())));
    ASSIGN_OR_RETURN(Bytes series, TsuidBytes(options_.layout, tsuid));
    if (series.size() == static_cast<size_t>(options_.layout.metric_width))
      return Status::InvalidArgument("UID was empty: TSUID " + tsuid + " has no tags");
    if (!HasRows(options_.layout, series)) continue;
    Bytes prefix = KeyOf(series, 0).substr(0, prefix_width);
    ++by_prefix[std::move(prefix)][std::move(series)];
  }
  uint64_t deleted = 0;
  for (const auto& [prefix, owners] : by_prefix) {
    ASSIGN_OR_RETURN(const uint64_t more, DeleteOwned(owners, start_ms, end_ms, context));
    deleted += more;
  }
  return deleted;
}

// Deletes the annotations of some series in a time range. All `owners` must have the same metric
// and salt.
Result<uint64_t> Annotations::DeleteOwned(const Owners& owners, int64_t start_ms, int64_t end_ms,
                                          RequestContext& context) {
  const auto base_at =
      static_cast<size_t>(options_.layout.salt_width + options_.layout.metric_width);
  const size_t base_end = base_at + sizeof(uint32_t);
  ScanSpec spec;
  spec.table = options_.table;
  spec.family = kPointFamily;
  spec.keys_only = true;
  spec.start = KeyOf(owners.begin()->first, BaseOf(start_ms / 1000)).substr(0, base_end);
  spec.stop = AfterPrefix(KeyOf(owners.begin()->first, BaseOf(end_ms / 1000)).substr(0, base_end));
  ChooseAnnotations(&spec);
  spec.batch_bytes = kFetchBytes;
  spec.context = &context;
  if (owners.size() <= kTemplatesMax) {
    spec.filter.kind = RowFilter::Kind::kOr;
    for (const auto& [series, times] : owners) {
      RowFilter& rows = spec.filter.children.emplace_back();
      rows.kind = RowFilter::Kind::kTemplate;
      rows.operand = KeyOf(series, 0);
      rows.mask = Bytes(rows.operand.size(), '\0');
      rows.mask.replace(base_at, sizeof(uint32_t), sizeof(uint32_t), '\1');
    }
  }
  ASSIGN_OR_RETURN(auto cursor, store_.Scan(spec));
  uint64_t deleted = 0;
  for (std::vector<Row> rows;;) {
    RETURN_IF_ERROR(cursor->Next(&rows));
    // The context is checked here, because the scan may return no rows for a long time.
    RETURN_IF_ERROR(context.Check());
    if (rows.empty()) return deleted;
    std::vector<RowMutation> mutations;
    for (const Row& row : rows) {
      if (row.key.size() < base_end) continue;
      const uint32_t base = ReadBig32(row.key.data() + base_at);
      const Bytes series = row.key.substr(static_cast<size_t>(options_.layout.salt_width),
                                          static_cast<size_t>(options_.layout.metric_width)) +
                           row.key.substr(base_end);
      // Rows of global annotations have the key of a metric that consists of zeros.
      auto owner = owners.find(series);
      if (owner == owners.end()) owner = owners.find(Bytes());
      if (owner == owners.end() || row.key != KeyOf(owner->first, base)) continue;
      RowMutation mutation{row.key, {}};
      for (const Cell& cell : row.cells) {
        if (!IsAnnotation(cell)) continue;
        const int64_t at_ms = int64_t{base} * 1000 + codec::ObjectOffsetMs(cell.qualifier);
        if (at_ms < start_ms || at_ms > end_ms) continue;
        mutation.changes.push_back(DeleteColumn(kPointFamily, cell.qualifier));
        deleted += owner->second;
        if (mutation.changes.size() < kDeletesTogether) continue;
        mutations.push_back(std::exchange(mutation, {row.key, {}}));
      }
      if (!mutation.changes.empty()) mutations.push_back(std::move(mutation));
    }
    if (!mutations.empty()) RETURN_IF_ERROR(store_.Mutate(options_.table, mutations));
  }
}

}  // namespace hg::uid
