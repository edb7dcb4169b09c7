#pragma once
// The request in which points are stored. The HTTP layer makes one context for each request and
// passes it to the functions of the write path as an argument.

#include "storage/base/request_context.h"
#include "storage/model/writer.h"

namespace hg {

/// Use on one thread at a time. With Checks::kEachBatch it is thread-safe.
class WriteContext {
 public:
  /// When to check the rate limits of the writer and of the metrics. Stored points always count
  /// towards the limits.
  enum class Checks {
    kEachBatch,  // before each batch
    // The limits of metrics before each batch, and those of the writer only before the first one.
    kMetricsEachBatch,
    /// Only before the first batch, so that a request of several batches is either rejected before
    /// any point is stored, or accepted as a whole. Points of metrics that appear only in a later
    /// batch count towards the limits, but are not rejected.
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

  /// Return whether an earlier batch has passed the check of the limits (of the writer, or of the
  /// metrics), so that later batches are not checked.
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
