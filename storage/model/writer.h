#pragma once
// On whose behalf points are stored: the edge knows the client, the write path asks what he may.

#include <cstdint>

#include "storage/base/status.h"

namespace hg {

/// Thread-safe; does not block.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Whether he may write so many points now. LimitExceeded: he writes faster than he may; the
  /// message names him and the limit.
  virtual Status AskForPoints(uint64_t count) = 0;
  /// They were stored, and count.
  virtual void ChargePoints(uint64_t count) = 0;
  /// Takes one of the series that he may make, which were not there before. InvalidArgument: he may
  /// make no more, a fault of its point.
  virtual Status TakeSeries() = 0;
  /// It did not come about.
  virtual void GiveBackSeries() = 0;
  /// Whether TakeSeries ever refuses: who does not know whether a series is new need not look.
  [[nodiscard]] virtual bool limits_series() const = 0;

  /// Of what this thread does now; nullptr = of nobody whose writing is limited.
  static Writer* Current() { return current_; }

  /// While one is alive, its thread writes on behalf of `writer`, which outlives it; nullptr = of
  /// nobody. Scopes may nest; the innermost counts.
  class ActingFor {
   public:
    explicit ActingFor(Writer* writer) : outer_(current_) { current_ = writer; }
    ~ActingFor() { current_ = outer_; }
    ActingFor(const ActingFor&) = delete;
    ActingFor& operator=(const ActingFor&) = delete;

   private:
    Writer* const outer_;
  };

 private:
  inline static thread_local Writer* current_ = nullptr;
};

}  // namespace hg
