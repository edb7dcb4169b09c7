#pragma once
// The context in which points are stored. The HTTP layer makes one context for each request and
// passes it to the functions of the write path as an argument.

#include "storage/base/request_context.h"
#include "storage/model/writer.h"

namespace hg {

/// The request and the writer of points. With Checks::kEachBatch, the object is thread-safe. With
/// the other values of Checks, only one thread at a time may use the object.
class WriteContext {
 public:
  /// When to check the rate limits of the writer and of the metrics. All stored points count
  /// towards the limits, even if the limits are not checked.
  enum class Checks {
    kEachBatch,  // check all limits before each batch
    // Check the limits of metrics before each batch, and the limits of the writer only before the
    // first batch.
    kMetricsEachBatch,
    /// Check the limits only before the first batch. A request of several batches is then either
    /// rejected before any point is stored, or accepted as a whole. Points of metrics that appear
    /// only in a later batch count towards the limits, but are not rejected.
    kOnce,
  };

  /// `request` and `writer` must outlive the object. If `writer` is nullptr, there are no limits.
  explicit WriteContext(RequestContext& request, Writer* writer = nullptr,
                        Checks checks = Checks::kEachBatch)
      : request_(request), writer_(writer), checks_(checks) {}
  WriteContext(const WriteContext&) = delete;
  WriteContext& operator=(const WriteContext&) = delete;

  /// Returns a context without limits, for tools and background threads.
  static WriteContext& Unlimited() {
    static WriteContext context(RequestContext::Unlimited());
    return context;
  }

  [[nodiscard]] RequestContext& request() const { return request_; }
  [[nodiscard]] Writer* writer() const { return writer_; }

  /// writer_passed returns true if a batch has passed the check of the writer's limits, so that
  /// later batches skip this check. metrics_passed returns the same for the limits of the metrics.
  /// A limit that is checked for each batch (Checks) never counts as passed.
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
