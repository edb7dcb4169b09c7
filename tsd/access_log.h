#pragma once
// Logs events in which credentials of a client were rejected.

#include "http/access/access.h"
#include "tsd/log_limit.h"

namespace hg::tsd {

/// Logs at most one event per second, and only counts all other events. The object is thread-safe.
class AccessLog {
 public:
  /// `clock` must outlive the object.
  explicit AccessLog(const Clock& clock) : limit_(clock) {}

  void Refused(const http::AccessRefusal& refusal);

 private:
  LogLimit limit_;
};

}  // namespace hg::tsd
