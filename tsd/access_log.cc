#include "tsd/access_log.h"

#include <optional>

#include "tsd/log.h"

namespace hg::tsd {

void AccessLog::Refused(const http::AccessRefusal& refusal) {
  const std::optional<int64_t> untold = limit_.Admit();
  if (!untold) return;
  LogFields fields = {{"remote", refusal.remote}, {"status", refusal.status}};
  if (!refusal.method.empty()) fields.emplace_back("method", refusal.method);
  if (!refusal.path.empty()) fields.emplace_back("path", refusal.path);
  if (!refusal.user.empty()) fields.emplace_back("user", refusal.user);
  if (*untold > 0) fields.emplace_back("untold", *untold);
  LogWarning("access",
             refusal.status == 401 ? "credentials were refused" : "the user lacks the role",
             fields);
}

}  // namespace hg::tsd
