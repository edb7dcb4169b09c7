#pragma once
// Reads and writes stored annotations, reads the global annotations of a time range, and deletes
// the annotations of a time range (opentsdb-schema.md §11, opentsdb-http-api.md §16). Annotations
// are cells of the data table. They are in the rows of their series or in separate rows.

#include <cstdint>
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

/// Maximum size of a stored annotation in bytes. Queries read all annotations in the rows of their
/// series. Therefore large annotations would use memory that queries of other clients need.
inline constexpr size_t kAnnotationBytesMax = 64 * 1024;

struct AnnotationsOptions {
  std::string table = "tsdb";  // tsd.storage.hbase.data_table
  KeyLayout layout;
  /// If true, the timestamp of a cell is the start time of the annotation
  /// (tsd.storage.use_otsdb_timestamp; opentsdb-schema.md §9.5).
  bool use_otsdb_timestamp = false;
};

/// Reads, writes and deletes annotations. Thread-safe. Calls block on the store, and return its
/// errors.
///
/// A TSUID is hexadecimal text as the client wrote it. If the number of digits is odd, a 0 is added
/// on the left. "" means global annotations. Calls return InvalidArgument if the TSUID or the time
/// is invalid. Only writes reject a TSUID with an incomplete tag pair.
///
/// Each call reports its work to `context` (RequestContext), and returns the errors that `context`
/// reports. The memory of results stays charged to `context`.
class Annotations {
 public:
  /// `store` must outlive the object.
  Annotations(Store& store, AnnotationsOptions options);

  /// Returns the annotation with this start time, which is in seconds or milliseconds and at least
  /// 1. Returns NotFound if there is no such annotation.
  Result<codec::Annotation> Find(const std::string& tsuid, int64_t start_time,
                                 RequestContext& context);

  /// Merges the request into the stored annotation (codec::MergeAnnotation) and returns the new
  /// annotation. If the request has no field besides the annotation's identity, writes nothing and
  /// returns nullopt. If several threads write one annotation, all of them succeed, one after the
  /// other. Returns InvalidArgument if the new annotation has more than kAnnotationBytesMax bytes.
  /// Returns Conflict if other writers changed the annotation during each of many attempts.
  Result<std::optional<codec::Annotation>> Write(const codec::Annotation& request, bool replace,
                                                 RequestContext& context);

  /// Deletes an annotation. Returns ok if the annotation does not exist.
  Status Delete(const std::string& tsuid, int64_t start_time, RequestContext& context);

  /// Returns global annotations in storage order. The function reads the hours that overlap [start,
  /// end] and returns the annotations with startTime ≥ start and *endTime* ≤ end. Therefore an
  /// annotation without an end is included even if it begins after `end`, in the hour of `end`
  /// (opentsdb-http-api.md §16.3). `start_s` and `end_s` are in seconds and are compared with the
  /// stored numbers, which may be in milliseconds. Returns InvalidArgument if end < start.
  Result<std::vector<codec::Annotation>> Globals(int64_t start_s, int64_t end_s,
                                                 RequestContext& context);

  /// Deletes the annotations of these series that are stored at times inside [start, end]
  /// (milliseconds), and returns the number of deleted annotations. In `tsuids`, "" means the
  /// global annotations. If a series is given twice, its annotations count twice, because OpenTSDB
  /// finds all annotations before it deletes any. The rows of a metric are read once for all its
  /// series. If one TSUID is invalid, nothing is deleted. Annotations whose start in seconds is
  /// divisible by 1000 have another position (opentsdb-schema.md §11.1) and are not found.
  Result<uint64_t> DeleteRange(const std::vector<std::string>& tsuids, int64_t start_ms,
                               int64_t end_ms, RequestContext& context);

 private:
  struct Place;
  // How often each TSUID is in the request. The key "" means global annotations.
  using Owners = std::map<Bytes, uint64_t>;
  Result<uint64_t> DeleteOwned(const Owners& owners, int64_t start_ms, int64_t end_ms,
                               RequestContext& context);
  [[nodiscard]] Result<Place> Locate(const std::string& tsuid, int64_t start_time) const;
  /// Returns the row key for a series (TSUID bytes; "" = global) and the base time of an hour.
  [[nodiscard]] Bytes KeyOf(ByteView tsuid, uint32_t base) const;

  Store& store_;
  const AnnotationsOptions options_;
};

/// Converts a hexadecimal TSUID to bytes; "" stays "". Returns InvalidArgument if the text is not
/// hexadecimal. Returns Unsupported if the text is shorter than a metric UID, for which OpenTSDB
/// sends the HTTP status 500.
Result<Bytes> TsuidBytes(const KeyLayout& layout, const std::string& hex);

}  // namespace hg::uid
