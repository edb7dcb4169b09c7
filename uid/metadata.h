#pragma once
// Metadata that users and collecting agents store for ids and series: UIDMeta and TSMeta objects
// (opentsdb-schema.md §14, opentsdb-http-api.md §17.3, §17.4; OpenTSDB classes UIDMeta, TSMeta).
// UIDMeta objects are JSON cells in the rows of the ids. TSMeta objects are JSON cells in a
// separate table.

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::uid {

/// A text that may be null. A null text is not the same as an empty text.
using MetaText = std::optional<std::string>;
/// User-defined fields in their original order, as pairs of key and value.
using MetaFields = std::vector<std::pair<std::string, std::string>>;

/// Metadata of one id (OpenTSDB's UIDMeta). In a request, a field with its default value means that
/// the client did not give this field.
struct UidMeta {
  UidKind kind = UidKind::kMetric;
  Bytes id;          // the row key; not part of the stored object
  std::string name;  // from the name mapping; not part of the stored object
  MetaText display_name{""}, description{""}, notes{""};
  int64_t created = 0;  // seconds since the epoch; 0 = unknown
  std::optional<MetaFields> custom;

  /// Returns whether the request sets at least one field.
  [[nodiscard]] bool HasChanges() const;
};

/// Metadata of one series (OpenTSDB's TSMeta). In a request, a field with its default value means
/// that the client did not give this field.
struct TsMeta {
  Bytes tsuid;
  MetaText display_name{""}, description{""}, notes{""};
  int64_t created = 0;
  std::optional<MetaFields> custom;
  MetaText units{""}, data_type{""};
  int32_t retention = 0;                          // in days; 0 = unlimited
  double max = std::nan(""), min = std::nan("");  // NaN = not set
  // In a request: whether the client gave `max` and `min`. The given value may be NaN.
  bool max_said = false, min_said = false;

  // Find functions of Metadata set the following members; they are not part of the stored object.

  // The counter of the series: its number of points if points are counted
  // (tsd.core.meta.enable_tsuid_incrementing). Otherwise the counter only means that the series
  // exists.
  int64_t total_points = 0;
  /// Time of the last write of the counter, in seconds since the epoch; 0 = no counter.
  int64_t last_received = 0;
  UidMeta metric;
  std::vector<UidMeta> tags;  // alternating: tag key, tag value, tag key, tag value and so on

  [[nodiscard]] bool HasChanges() const;
};

struct MetadataOptions {
  std::string uid_table = "tsdb-uid";
  std::string meta_table = "tsdb-meta";
  KeyLayout layout;
};

/// The maximum size of a stored object of metadata or of a tree, in bytes of JSON. The limit exists
/// because these objects are read whenever a new series is placed in the trees. Larger objects that
/// another program stored can still be read.
inline constexpr size_t kObjectBytesMax = 64 << 10;
/// Returns LimitExceeded if `json` is larger than kObjectBytesMax.
Status CheckObjectSize(const std::string& json);
/// Returns LimitExceeded if all texts of an object together are larger than kObjectBytesMax. Call
/// this function before the object is copied or encoded, because the texts come from a request and
/// may be as long as its body.
Status CheckTextSizes(const UidMeta& object);
Status CheckTextSizes(const TsMeta& object);
Status CheckTextSizes(std::initializer_list<const std::string*> texts);

/// How much metadata of its metric and tags TsMeta contains after a read.
enum class IdDetail : uint8_t {
  kNames,    // ids and names only
  kObjects,  // ids, names and stored UIDMeta objects
};

/// Returns the memory of a metadata object in bytes.
int64_t BytesOf(const UidMeta& meta);
int64_t BytesOf(const TsMeta& meta);

/// Reads and writes metadata. Thread-safe. Calls block on the store. If several threads write one
/// object, all of them succeed, one after the other. Writes return Conflict if other writers
/// changed the object during each of kWriteAttempts attempts. Writes return LimitExceeded if the
/// new object is larger than kObjectBytesMax. Each call charges its work to `context` and returns
/// the errors of `context`.
class Metadata {
 public:
  /// `store` and `names` must outlive the object.
  Metadata(Store& store, Names& names, MetadataOptions options);

  /// Returns the stored object of an id, or an object with default values if no object is stored.
  /// Returns NotFound if the id does not exist, and InvalidArgument if the id does not have the
  /// width of its kind.
  Result<UidMeta> FindUid(UidKind kind, const Bytes& id, RequestContext& context);
  /// Merges the request into the stored object of an id, or replaces the object if `replace` is
  /// true. Returns the new object. If the request sets no field, writes nothing and returns
  /// nullopt. Returns the same errors as FindUid.
  Result<std::optional<UidMeta>> WriteUid(const UidMeta& request, bool replace,
                                          RequestContext& context);
  /// Deletes the UIDMeta object of an id. Returns ok if the object does not exist.
  Status DeleteUid(UidKind kind, const Bytes& id, RequestContext& context);

  /// Returns the TSMeta object of a series. `detail` is the metadata of the metric and tags that
  /// the caller needs. Returns NotFound if no object is stored for the series, and Corruption if an
  /// id of the series has no name.
  Result<TsMeta> FindSeries(const Bytes& tsuid, RequestContext& context,
                            IdDetail detail = IdDetail::kObjects);
  /// Calls `visit` with the object of each series of the metric that has all tag pairs in `pairs`,
  /// ordered by TSUID. A tag pair is the id of a tag key, followed by the id of a tag value. A
  /// series with an id that has no name, for example because the name was deleted, is left out. If
  /// `visit` returns an error, VisitSeries stops and returns this error.
  Status VisitSeries(const Bytes& metric, const std::vector<Bytes>& pairs,
                     const std::function<Status(const TsMeta&)>& visit, RequestContext& context);
  [[nodiscard]] Result<bool> HasSeries(const Bytes& tsuid, RequestContext& context);
  /// Merges the request into the stored object of a series, or replaces the object if `replace` is
  /// true. If the request sets no field, writes nothing and returns nullopt. Returns NotFound if no
  /// object is stored for the series, and InvalidArgument if the TSUID is invalid. Also returns the
  /// errors of FindSeries.
  Result<std::optional<TsMeta>> WriteSeries(const TsMeta& request, bool replace,
                                            RequestContext& context);
  /// Stores the request as the object of a series, and returns the object as FindSeries does. If
  /// the series has no counter, also stores a counter with the value zero.
  Result<TsMeta> CreateSeries(const TsMeta& request, RequestContext& context);
  /// Deletes the TSMeta object of a series, but not its counter. Returns ok if there is no object.
  Status DeleteSeries(const Bytes& tsuid, RequestContext& context);

  [[nodiscard]] const KeyLayout& layout() const { return options_.layout; }

 private:
  Result<UidMeta> FindName(UidKind kind, const Bytes& id, RequestContext& context);
  Result<TsMeta> ReadSeries(const Row& row);
  // Reads the metadata of the ids. If an id has no name, FindIds returns NotFound, and FillIds
  // returns Corruption.
  Status FindIds(IdDetail detail, TsMeta* meta, RequestContext& context);
  Status FillIds(IdDetail detail, TsMeta* meta, RequestContext& context);

  Store& store_;
  Names& names_;
  const MetadataOptions options_;
};

/// Stores a UIDMeta object for an id that was just assigned. `created_s` is the time of the
/// assignment in seconds since the epoch. An existing object is replaced (opentsdb-schema.md §3.3,
/// step 8).
Status StoreFreshUidMeta(Store& store, const std::string& uid_table, UidKind kind, const Bytes& id,
                         int64_t created_s);

}  // namespace hg::uid
