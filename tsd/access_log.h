#pragma once
// Logs requests that were rejected because their credentials were invalid or because the user lacks
// a role.

#include "http/access/access.h"
#include "tsd/log_limit.h"

namespace hg::tsd {

/// Logs at most one rejected request per second. The next log line then contains the number of
/// rejected requests that were not logged. The object is thread-safe.
class AccessLog {
 public:
  /// `clock` must outlive the object.
  explicit AccessLog(const Clock& clock) : limit_(clock) {}

  void Refused(const http::AccessRefusal& refusal);

 private:
  LogLimit limit_;
};

}  // namespace hg::tsd
