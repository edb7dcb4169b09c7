#pragma once
// Limits of queries by metric, which are configured as JSON text:
// [{"regex","byteLimit","dataPointsLimit"}]. The value of tsd.query.limits.overrides.config is
// either the path of a file that contains this text, or the text itself.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/java_pattern.h"

namespace hg::query {

/// The limits of one element of a limits file, for metrics in whose name `pattern` is found. 0 = no
/// limit.
struct MetricLimits {
  std::shared_ptr<const uid::JavaPattern> pattern;
  int64_t bytes_max = 0;
  int64_t cells_max = 0;
};

/// Parses the text of a limits file. The message of InvalidArgument describes the error.
Result<std::vector<MetricLimits>> ParseLimitsFile(std::string_view json);

/// A limits file that is read again at intervals. The first call of Find reads the file. A later
/// call reads the file again if the interval has passed since the last read. If the file can no
/// longer be read, the previous limits stay in effect. The object is thread-safe.
class LimitsFile {
 public:
  /// `clock` must outlive the object. If `path` is empty, there are no limits. If `path` begins
  /// with '[', it is not a path but the JSON text itself.
  LimitsFile(std::string path, int64_t interval_s, const Clock& clock)
      : path_(std::move(path)), interval_ns_(interval_s * 1'000'000'000), clock_(clock) {}

  /// Finds the first element of the file whose regular expression matches a part of the name
  /// `metric`. Returns true and sets `*bytes_max` and `*cells_max` to the limits of the element.
  /// Returns false if there is no matching element. InvalidArgument: the file cannot be read, and
  /// no earlier read succeeded. Busy: the file must be read now, or another thread uses it, and
  /// this thread is an event loop (RequestContext::MayWait).
  Result<bool> Find(std::string_view metric, RequestContext& context, int64_t* bytes_max,
                    int64_t* cells_max);

 private:
  Status Reload();  // reads the file; the caller must hold mutex_

  const std::string path_;
  const int64_t interval_ns_;
  const Clock& clock_;

  std::mutex mutex_;
  bool loaded_ = false;    // whether the file was read successfully; guarded by mutex_
  int64_t loaded_ns_ = 0;  // monotonic time of the last attempt to read the file; guarded by mutex_
  std::vector<MetricLimits> entries_;  // limits in the order of the file; guarded by mutex_
};

}  // namespace hg::query
