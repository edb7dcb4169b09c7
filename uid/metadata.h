#pragma once
// What people and agents say about ids and series: UIDMeta and TSMeta objects (spec schema.md §14,
// http-api.md §17.3, §17.4; OpenTSDB classes UIDMeta, TSMeta). JSON cells beside the ids, and in a
// table of their own.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"
#include "uid/names.h"

namespace hg::uid {

/// A text that may be null, which is not the same as empty.
using MetaText = std::optional<std::string>;
/// Fields of the user's own, in order of arrival.
using MetaFields = std::vector<std::pair<std::string, std::string>>;

/// Of one id. As a request: what is at its default was not said.
struct UidMeta {
  UidKind kind = UidKind::kMetric;
  Bytes id;          // not stored in the object: it is its row
  std::string name;  // nor this: it comes from the mapping
  MetaText display_name{""}, description{""}, notes{""};
  int64_t created = 0;  // seconds; 0 = unknown
  std::optional<MetaFields> custom;

  /// The request says something.
  [[nodiscard]] bool HasChanges() const;
};

/// Of one series. As a request: what is at its default was not said.
struct TsMeta {
  Bytes tsuid;
  MetaText display_name{""}, description{""}, notes{""};
  int64_t created = 0;
  std::optional<MetaFields> custom;
  MetaText units{""}, data_type{""};
  int32_t retention = 0;                          // days; 0 = for ever
  double max = std::nan(""), min = std::nan("");  // NaN = unset
  bool max_said = false, min_said = false;        // of a request: NaN may be meant

  // Filled in when read:
  int64_t total_points = 0;   // the counter, which may count nothing but existence
  int64_t last_received = 0;  // when it was last written, seconds
  UidMeta metric;
  std::vector<UidMeta> tags;  // key, value, key, value, …

  [[nodiscard]] bool HasChanges() const;
};

struct MetadataOptions {
  std::string uid_table = "tsdb-uid";
  std::string meta_table = "tsdb-meta";
  KeyLayout layout;
};

/// Thread-safe. Blocks on the store. Writers of one object all succeed, one after the other;
/// Conflict: lost too often.
class Metadata {
 public:
  /// Both outlive the object.
  Metadata(Store& store, Names& names, MetadataOptions options);

  /// What is stored, or an object at its defaults. NotFound: no such id. InvalidArgument: not of
  /// the kind's width.
  Result<UidMeta> FindUid(UidKind kind, const Bytes& id);
  /// Merges (or replaces) and gives what is stored now; none: the request says nothing. Errors as
  /// FindUid.
  Result<std::optional<UidMeta>> WriteUid(const UidMeta& request, bool replace);
  /// Ok, too, if there was nothing.
  Status DeleteUid(UidKind kind, const Bytes& id);

  /// NotFound: nothing stored. Corruption: an id of the series has no
  /// name.
  Result<TsMeta> FindSeries(const Bytes& tsuid);
  /// All of the metric whose series has all the pairs (tagk ‖ tagv), by TSUID.
  Result<std::vector<TsMeta>> ListSeries(const Bytes& metric, const std::vector<Bytes>& pairs);
  [[nodiscard]] Result<bool> HasSeries(const Bytes& tsuid);
  /// Merges (or replaces) what is stored; none: the request says nothing. NotFound: nothing stored.
  /// InvalidArgument: no TSUID. Others as FindSeries.
  Result<std::optional<TsMeta>> WriteSeries(const TsMeta& request, bool replace);
  /// Stores the request as it stands, and a counter of zero if there is none.
  Result<TsMeta> CreateSeries(const TsMeta& request);
  /// The object, not the counter. Ok, too, if there was nothing.
  Status DeleteSeries(const Bytes& tsuid);

  [[nodiscard]] const KeyLayout& layout() const { return options_.layout; }

 private:
  Result<TsMeta> ReadSeries(const Row& row);
  Status FillIds(TsMeta* meta);

  Store& store_;
  Names& names_;
  const MetadataOptions options_;
};

/// Stores the object of an id that was just assigned, over whatever is there (spec schema.md §3.3,
/// step 8).
Status StoreFreshUidMeta(Store& store, const std::string& uid_table, UidKind kind, const Bytes& id,
                         int64_t created_s);

}  // namespace hg::uid
