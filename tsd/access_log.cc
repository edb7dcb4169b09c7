#include "tsd/access_log.h"

#include <utility>

#include "tsd/log.h"

namespace hg::tsd {

void AccessLog::Refused(const http::AccessRefusal& refusal) {
  constexpr int64_t kPauseNs = 1'000'000'000;
  int64_t untold = 0;
  {
    const std::lock_guard lock(mutex_);
    const int64_t now_ns = clock_.MonotonicNs();
    if (now_ns < next_ns_) {
      ++untold_;
      return;
    }
    next_ns_ = now_ns + kPauseNs;
    untold = std::exchange(untold_, 0);
  }
  LogFields fields = {{"remote", refusal.remote}, {"status", refusal.status}};
  if (!refusal.method.empty()) fields.emplace_back("method", refusal.method);
  if (!refusal.path.empty()) fields.emplace_back("path", refusal.path);
  if (!refusal.user.empty()) fields.emplace_back("user", refusal.user);
  if (untold > 0) fields.emplace_back("untold", untold);
  LogWarning("access",
             refusal.status == 401 ? "credentials were refused" : "the user lacks the role",
             fields);
}

}  // namespace hg::tsd
