#pragma once
// Annotations in storage: one, the global ones of a range, deletes (spec schema.md §11, http-api.md
// §16). They are cells of the data table, beside the points of their series or in rows of their
// own.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"

namespace hg::uid {

struct AnnotationsOptions {
  std::string table = "tsdb";  // tsd.storage.hbase.data_table
  KeyLayout layout;
  /// Cells carry the annotation's start as their time (tsd.storage.use_otsdb_timestamp; schema.md
  /// §9.5).
  bool use_otsdb_timestamp = false;
};

/// Thread-safe. Blocks on the store. TSUIDs are hexadecimal as the client wrote them, an odd digit
/// count is padded on the left; "" = global. InvalidArgument: a TSUID or time that cannot be; one
/// whose pairs are not whole is only refused where it would be written. Store errors as they come.
class Annotations {
 public:
  /// `store` outlives the object.
  Annotations(Store& store, AnnotationsOptions options);

  /// The one that starts then (seconds or milliseconds, ≥ 1); NotFound if there is none.
  Result<codec::Annotation> Find(const std::string& tsuid, int64_t start_time);

  /// Merges the request into what is stored (codec::MergeAnnotation) and gives what is stored now;
  /// none: the request says nothing besides which annotation it means, and nothing was written.
  /// Concurrent writers of one annotation all succeed, one after the other. Conflict: lost too
  /// often.
  Result<std::optional<codec::Annotation>> Write(const codec::Annotation& request, bool replace);

  /// Ok, too, if there was none.
  Status Delete(const std::string& tsuid, int64_t start_time);

  /// Global annotations in storage order: of the hours that [start, end] touches, those with
  /// startTime ≥ start and *endTime* ≤ end, which lets open ones through that begin later in the
  /// last hour (§16.3). Both times in seconds, compared with what is stored as it stands; an end in
  /// milliseconds lets the ends through that are stored so, too.
  /// InvalidArgument: end < start.
  Result<std::vector<codec::Annotation>> Globals(int64_t start_s, int64_t end_s);

  /// Deletes those of a series, or the global ones, whose place lies inside [start, end]
  /// (milliseconds); how many. An annotation whose start in seconds is divisible by 1000 has
  /// another place (§11.1) and is not found.
  Result<uint64_t> DeleteRange(const std::string& tsuid, int64_t start_ms, int64_t end_ms);

 private:
  struct Place;
  [[nodiscard]] Result<Place> Locate(const std::string& tsuid, int64_t start_time) const;
  /// Row key of that series (bytes; "" = global) and hour.
  [[nodiscard]] Bytes KeyOf(ByteView tsuid, uint32_t base) const;

  Store& store_;
  const AnnotationsOptions options_;
};

/// Bytes of a TSUID in hexadecimal; "" for "". InvalidArgument: not hexadecimal. Unsupported:
/// shorter than a metric's UID, which OpenTSDB answers with 500.
Result<Bytes> TsuidBytes(const KeyLayout& layout, const std::string& hex);

}  // namespace hg::uid
