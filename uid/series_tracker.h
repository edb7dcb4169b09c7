#pragma once
// Updates the meta table for each stored point, if the settings enable this. The tracker writes a
// marker or a counter for each series. It writes a TSMeta object when it sees a series for the
// first time (opentsdb-schema.md §14.3; OpenTSDB classes TSDB and TSMeta).

#include <functional>
#include <string>

#include "storage/base/bytes.h"
#include "storage/base/clock.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::uid {

struct SeriesTrackerOptions {
  std::string meta_table = "tsdb-meta";
  // If `tracking` is false, nothing is written, and the other options have no effect.
  bool tracking = false;      // tsd.core.meta.enable_tsuid_tracking
  bool realtime_ts = false;   // tsd.core.meta.enable_realtime_ts
  bool incrementing = false;  // tsd.core.meta.enable_tsuid_incrementing; only with realtime_ts
  /// A function that is called for each series whose TSMeta object the tracker has stored. It gets
  /// the context of the request that wrote the point. Several threads call the function
  /// concurrently. The function may be empty.
  std::function<Status(const Bytes& tsuid, RequestContext& context)> stored = {};
};

/// Updates the meta table. Thread-safe. Calls block on the store: they read or write a row for each
/// point, as in OpenTSDB.
class SeriesTracker {
 public:
  /// `store` and `clock` must outlive the object.
  SeriesTracker(Store& store, const Clock& clock, SeriesTrackerOptions options);

  [[nodiscard]] bool enabled() const { return options_.tracking; }
  /// Records in the meta table that a point of this series was stored. If the request has ended,
  /// the point is still recorded, but SeriesTrackerOptions::stored may return the error of
  /// `context`. Returns the errors of the store and of SeriesTrackerOptions::stored.
  Status Note(const Bytes& tsuid, RequestContext& context);

 private:
  Status StoreObject(const Bytes& tsuid, RequestContext& context);

  Store& store_;
  const Clock& clock_;
  const SeriesTrackerOptions options_;
};

}  // namespace hg::uid
