#pragma once
// Marks several batches of points as one request for rate limits. The limits are checked once, so a
// request is either rejected before any point is stored or accepted as a whole.

namespace hg {

/// While a OneRequest is alive, all batches that its thread stores belong to one request. Scopes
/// may nest, and the innermost one counts.
class OneRequest {
 public:
  /// Whether the limits of metrics are checked once, together with the writer's limit before the
  /// first batch, or before each batch. With kAskedOnce, metrics that appear only in a later batch
  /// are charged but not checked.
  enum class Metrics { kAskedOnce, kAskedEachBatch };

  explicit OneRequest(Metrics metrics) : metrics_(metrics), outer_(current_) { current_ = this; }
  ~OneRequest() { current_ = outer_; }
  OneRequest(const OneRequest&) = delete;
  OneRequest& operator=(const OneRequest&) = delete;

  /// nullptr means that each batch is a request.
  static OneRequest* Current() { return current_; }

  [[nodiscard]] bool writer_may() const { return writer_may_; }
  [[nodiscard]] bool metrics_may() const { return metrics_may_; }
  void LetWriter() { writer_may_ = true; }
  void LetMetrics() { metrics_may_ = metrics_ == Metrics::kAskedOnce; }

 private:
  const Metrics metrics_;
  OneRequest* const outer_;
  bool writer_may_ = false, metrics_may_ = false;

  inline static thread_local OneRequest* current_ = nullptr;
};

}  // namespace hg
