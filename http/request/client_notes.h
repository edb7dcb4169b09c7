#pragma once
// Stores information from clients for which the data store has no place: descriptions of metrics,
// and names of InfluxDB databases. The information is held in memory, within limits, and is lost at
// a restart.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http/request/options.h"
#include "http/wire/remote_write.h"
#include "storage/base/thread_annotations.h"

namespace hg::http {

/// The information from clients. The object is thread-safe.
class ClientNotes {
 public:
  /// Maximum length of a text in bytes. Longer types, help texts and units are shortened. The
  /// description of a metric with a longer name is not stored.
  static constexpr size_t kTextBytesMax = 1024;
  static constexpr size_t kDatabasesMax = 1000;
  static constexpr size_t kDatabaseNameBytesMax = 256;
  /// The cost of one call of Describe, in steps of a RequestContext.
  static constexpr uint64_t kStepsToDescribe = 16;

  /// `options` must outlive the object.
  explicit ClientNotes(const Options& options) : options_(options) {}

  struct Description {
    std::string metric, type, help, unit;  // `type`, `help` and `unit` may be empty.
  };

  /// Replaces the stored texts of the metric by the texts of `description` that are not empty. A
  /// text is not stored if all descriptions together would then need more than
  /// Options::description_bytes_max bytes. The metric is stored under the name that PromQL shows
  /// (Options::underscore_names).
  void Describe(const MetricDescription& description);
  /// Returns up to `max` descriptions in the order of the metrics. The first one is that of the
  /// metric `first`, or of the next metric if `first` has no description.
  [[nodiscard]] std::vector<Description> Descriptions(std::string_view first, size_t max) const;

  /// Stores the name of an InfluxDB database. Does nothing if the name is empty or too long, or if
  /// kDatabasesMax names are already stored.
  void AddDatabase(std::string_view name);
  [[nodiscard]] std::vector<std::string> Databases() const;

 private:
  struct Texts {
    std::string type, help, unit;
  };

  void Replace(std::string_view text, std::string* kept) REQUIRES(mutex_);

  const Options& options_;
  mutable Mutex mutex_;
  std::map<std::string, Texts, std::less<>> metrics_ GUARDED_BY(mutex_);
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;  // memory of metrics_ in bytes
  std::set<std::string, std::less<>> databases_ GUARDED_BY(mutex_);
};

}  // namespace hg::http
