#pragma once
// Limits per metric from a JSON file: [{"regex","byteLimit","dataPointsLimit"}]
// (tsd.query.limits.overrides.config, the file's path or the document itself).

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/status.h"
#include "uid/java_pattern.h"

namespace hg::query {

/// 0 = no limit.
struct MetricLimits {
  std::shared_ptr<const uid::JavaPattern> pattern;
  int64_t bytes_max = 0;
  int64_t cells_max = 0;
};

/// The entries of such a document. InvalidArgument says what is wrong.
Result<std::vector<MetricLimits>> ParseLimitsFile(std::string_view json);

/// Thread-safe. Reads the file on the first question, and again when it was read longer ago than
/// the interval; a file that can no longer be read leaves the entries as they were.
class LimitsFile {
 public:
  /// `clock` outlives the object. path "" = no entries; one that begins with '[' is the document.
  LimitsFile(std::string path, int64_t interval_s, const Clock& clock)
      : path_(std::move(path)), interval_ns_(interval_s * 1'000'000'000), clock_(clock) {}

  /// Fills the limits of the first entry whose pattern is found in the metric's name; false if
  /// there is none. InvalidArgument: the file could not be read the first time.
  Result<bool> Find(std::string_view metric, int64_t* bytes_max, int64_t* cells_max);

 private:
  Status Reload();  // with mutex_ held

  const std::string path_;
  const int64_t interval_ns_;
  const Clock& clock_;

  std::mutex mutex_;
  bool loaded_ = false;                // guarded by mutex_
  int64_t loaded_ns_ = 0;              // guarded by mutex_
  std::vector<MetricLimits> entries_;  // guarded by mutex_
};

}  // namespace hg::query
