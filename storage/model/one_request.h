#pragma once
// Points that came together and are stored in more than one batch: their rates are asked once, so
// that what is answered as a whole is refused before any of it is stored, or goes through.

namespace hg {

/// While one is alive, what its thread stores came together. The innermost counts.
class OneRequest {
 public:
  /// Whether the metrics' rates are asked with the writer's, before the first batch, or before
  /// each. Once: a metric that only a later batch has pays without being asked.
  enum class Metrics { kAskedOnce, kAskedEachBatch };

  explicit OneRequest(Metrics metrics) : metrics_(metrics), outer_(current_) { current_ = this; }
  ~OneRequest() { current_ = outer_; }
  OneRequest(const OneRequest&) = delete;
  OneRequest& operator=(const OneRequest&) = delete;

  /// nullptr = each batch is a request.
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
