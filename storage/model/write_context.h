#pragma once
// The request for which points are stored. The HTTP layer makes one for each request and passes it
// down the write path as an argument.

#include "storage/base/request_context.h"
#include "storage/model/writer.h"

namespace hg {

/// One thread at a time. With Checks::kEachBatch it is thread-safe.
class WriteContext {
 public:
  /// When the rate limits of the writer and of the metrics are checked. Stored points are always
  /// charged.
  enum class Checks {
    kEachBatch,         // before each batch
    kMetricsEachBatch,  // those of the writer only before the first batch
    /// Only before the first batch, so that a request of several batches is either rejected before
    /// any point is stored or accepted as a whole. Metrics that appear only in a later batch are
    /// charged but not checked.
    kOnce,
  };

  /// `writer`: nullptr = unlimited. Both must outlive the object.
  explicit WriteContext(RequestContext& request, Writer* writer = nullptr,
                        Checks checks = Checks::kEachBatch)
      : request_(request), writer_(writer), checks_(checks) {}
  WriteContext(const WriteContext&) = delete;
  WriteContext& operator=(const WriteContext&) = delete;

  /// Without limits, for tools and background threads.
  static WriteContext& Unlimited() {
    static WriteContext context(RequestContext::Unlimited());
    return context;
  }

  [[nodiscard]] RequestContext& request() const { return request_; }
  [[nodiscard]] Writer* writer() const { return writer_; }

  /// Whether an earlier batch passed the check, so that later ones are not checked.
  [[nodiscard]] bool writer_passed() const { return writer_passed_; }
  [[nodiscard]] bool metrics_passed() const { return metrics_passed_; }
  void PassWriter() {
    if (checks_ != Checks::kEachBatch) writer_passed_ = true;
  }
  void PassMetrics() {
    if (checks_ == Checks::kOnce) metrics_passed_ = true;
  }

 private:
  RequestContext& request_;
  Writer* const writer_;
  const Checks checks_;
  bool writer_passed_ = false, metrics_passed_ = false;
};

}  // namespace hg
