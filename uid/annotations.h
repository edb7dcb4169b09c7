#pragma once
// Reads and writes stored annotations, reads the global annotations of a time range, and deletes
// the annotations of a time range (opentsdb-schema.md §11, opentsdb-http-api.md §16). Annotations
// are cells of the data table. They are in the rows of their series or in separate rows.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"

namespace hg::uid {

/// The maximum size of a stored annotation in bytes. The limit is needed because queries read all
/// annotations in the rows of their series: large annotations would use memory that queries of
/// other clients need.
inline constexpr size_t kAnnotationBytesMax = 64 * 1024;

struct AnnotationsOptions {
  std::string table = "tsdb";  // tsd.storage.hbase.data_table
  KeyLayout layout;
  /// If true, the timestamp of the cell in the store is the start time of the annotation
  /// (tsd.storage.use_otsdb_timestamp; opentsdb-schema.md §9.5). If false, the store sets the
  /// timestamp.
  bool use_otsdb_timestamp = false;
};

/// Reads, writes and deletes annotations. Thread-safe. Calls block on the store, and return the
/// errors of the store.
///
/// A TSUID is hexadecimal text as the client wrote it. If the number of digits is odd, a 0 is added
/// on the left. "" means global annotations. Calls return InvalidArgument if the TSUID is not
/// hexadecimal or the time is invalid, and Unsupported if the TSUID is shorter than a metric UID.
/// Only writes reject a TSUID with an incomplete tag pair.
///
/// Each call charges its work to `context`, and returns the errors of `context`. The memory of
/// results stays charged to `context`.
class Annotations {
 public:
  /// `store` must outlive the object.
  Annotations(Store& store, AnnotationsOptions options);

  /// Returns the annotation of the series with this start time. The start time is in seconds or
  /// milliseconds and at least 1. Returns NotFound if this annotation does not exist.
  Result<codec::Annotation> Find(const std::string& tsuid, int64_t start_time,
                                 RequestContext& context);

  /// Merges `request` into the stored annotation (codec::MergeAnnotation) and returns the new
  /// annotation. If the request sets no field except the TSUID and the start time, the call writes
  /// nothing and returns nullopt. If several threads write one annotation, all of them succeed, one
  /// after the other. Returns InvalidArgument if the new annotation has more than
  /// kAnnotationBytesMax bytes. Returns Conflict if other writers changed the annotation during
  /// each of kWriteAttempts attempts. If the annotation is not global, its row creates the series
  /// in the store, so the call first passes the TSUID (bytes) to `admit` (PointSink::AdmitSeries),
  /// and returns the errors of `admit`. If `admit` is empty, every series is allowed.
  Result<std::optional<codec::Annotation>> Write(const codec::Annotation& request, bool replace,
                                                 RequestContext& context,
                                                 const std::function<Status(ByteView)>& admit = {});

  /// Deletes the annotation of the series with this start time. Returns ok if the annotation does
  /// not exist.
  Status Delete(const std::string& tsuid, int64_t start_time, RequestContext& context);

  /// Returns global annotations in storage order. `start_s` and `end_s` are in seconds. The
  /// function reads the hours that overlap [start_s, end_s]. It returns the annotations with
  /// startTime ≥ start_s and *endTime* ≤ end_s. An annotation without an end is therefore included
  /// even if it begins after `end_s`, in the hour of `end_s` (opentsdb-http-api.md §16.3). The
  /// function compares `start_s` and `end_s` with the stored numbers, which may be in milliseconds.
  /// Returns InvalidArgument if end_s < start_s.
  Result<std::vector<codec::Annotation>> Globals(int64_t start_s, int64_t end_s,
                                                 RequestContext& context);

  /// Deletes the annotations of these series that are stored at times inside [start_ms, end_ms],
  /// and returns the number of deleted annotations. In `tsuids`, "" means the global annotations.
  /// If `tsuids` contains a series twice, its annotations are counted twice, because OpenTSDB finds
  /// all annotations before it deletes any. The rows of a metric are read once for all its series.
  /// If one TSUID is invalid, nothing is deleted. Annotations whose start in seconds is divisible
  /// by 1000 have another position (opentsdb-schema.md §11.1) and are not found.
  Result<uint64_t> DeleteRange(const std::vector<std::string>& tsuids, int64_t start_ms,
                               int64_t end_ms, RequestContext& context);

 private:
  struct Place;
  // For each TSUID of a request (bytes), how often the request contains it. The key "" means global
  // annotations.
  using Owners = std::map<Bytes, uint64_t>;
  Result<uint64_t> DeleteOwned(const Owners& owners, int64_t start_ms, int64_t end_ms,
                               RequestContext& context);
  [[nodiscard]] Result<Place> Locate(const std::string& tsuid, int64_t start_time) const;
  /// Returns the row key of the hour with the base time `base` (seconds) of a series. `tsuid` is
  /// the TSUID in bytes; "" = global annotations.
  [[nodiscard]] Bytes KeyOf(ByteView tsuid, uint32_t base) const;

  Store& store_;
  const AnnotationsOptions options_;
};

/// Converts a hexadecimal TSUID to bytes; "" stays "". If the number of digits is odd, a 0 is added
/// on the left. Returns InvalidArgument if the text is not hexadecimal. Returns Unsupported if the
/// text is shorter than a metric UID; OpenTSDB sends HTTP status 500 for this error.
Result<Bytes> TsuidBytes(const KeyLayout& layout, const std::string& hex);

}  // namespace hg::uid
