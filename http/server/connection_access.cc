// Authentication of a connection's client (connection.h). Over HTTP each request carries
// credentials, because behind a proxy one connection serves many users. Over telnet the command
// `auth` sends them once. Each request's credentials are first compared with those of the previous
// request, so that equal credentials cost only one comparison.

#include <algorithm>

#include "http/access/client_limits.h"
#include "http/request/errors.h"
#include "http/request/influx_target.h"
#include "http/request/request.h"
#include "http/routes/endpoints.h"
#include "http/routes/router.h"
#include "http/server/connection.h"
#include "http/server/lent_connection.h"
#include "http/server/loop.h"
#include "http/wire/telnet_line.h"

namespace hg::http {
namespace {

constexpr std::string_view kAuthSuccess = "AUTH_SUCCESS\r\n";
constexpr std::string_view kAuthFail = "AUTH_FAIL\r\n";

}  // namespace

bool Connection::Guarded() const { return edge_.services.access != nullptr; }

Roles Connection::roles() const {
  if (!Guarded()) return Roles::All();
  return who_ == nullptr ? Roles() : who_->roles;
}

bool Connection::May(Role role) const { return !Guarded() || roles().Has(role); }

void Connection::Adopt(IdentityPtr who, uint64_t generation) {
  who_ = std::move(who);
  who_generation_ = generation;
  writer_ = nullptr;
}

const std::shared_ptr<Writer>& Connection::writer() {
  ClientLimits* const limits = edge_.services.client_limits;
  if (limits == nullptr || writer_ != nullptr) return writer_;
  if (who_ != nullptr) {
    writer_ = limits->OfUser(who_->name);
  } else if (!Guarded()) {  // a client that is not authenticated cannot write
    const std::string remote = stream_.Remote();
    writer_ = limits->OfAddress(remote.substr(0, remote.rfind(':')));
  }
  return writer_;
}

/// Credentials in the request take precedence over the client certificate.
IdentityPtr Connection::KnownBy(const Credentials& said) const {
  Access& access = *edge_.services.access;
  if (said.kind == Credentials::Kind::kNone) return access.ByCertificate(stream_.PeerNames());
  return access.Known(said);
}

bool Connection::Admit() {
  if (!Guarded()) return true;
  Access& access = *edge_.services.access;
  const std::string_view field = head_.Find("authorization");
  // InfluxDB 1.x clients may send credentials in the target. The whole target is then compared with
  // the target of the last check.
  const bool in_target = field.empty() && InfluxApiOf(head_.target) != InfluxApi::kNone;
  const std::string_view words = in_target ? head_.target : field;
  const uint64_t generation = access.generation();
  if (who_ != nullptr && who_generation_ == generation && EqualInConstantTime(words, credentials_))
    return true;
  credentials_ = words;
  Credentials said = in_target ? InfluxCredentials(head_.target) : ReadAuthorization(field);
  Adopt(KnownBy(said), generation);
  if (who_ != nullptr) return true;
  if (said.kind != Credentials::Kind::kPassword) return AdmitStranger();
  if (JudgePassword(std::move(said))) return false;
  RefuseHead(*MakeRequest({}), [](const Request& request, ResponseWriter& out) {
    SendStatus(out, request,
               Status::Busy("Too many passwords are being checked; please try again"));
  });
  return false;
}

/// Handles a request of a client that is not authenticated. The request must not have a body, so
/// that clients without credentials cannot make the daemon keep one in memory.
bool Connection::AdmitStranger() {
  const std::unique_ptr<Request> request = MakeRequest({});
  const bool bodyless = head_.content_length == 0 && !head_.chunked;
  if (bodyless && request->method == Method::kOptions)
    return true;  // CORS preflight requests have no credentials
  const Endpoint* const endpoint = FindEndpoint(*request, edge_.options);
  if (bodyless && endpoint != nullptr && endpoint->role(*request) == Role::kAnyone) return true;
  RefuseHead(*request, [this](const Request& refused, ResponseWriter& out) {
    AddCorsHeaders(refused, edge_.options, out);
    SendNoAccess(refused, Role::kUser, edge_.services, out);
  });
  return false;
}

bool Connection::AdmitLines(std::string_view* lines) {
  Access& access = *edge_.services.access;
  const uint64_t generation = access.generation();
  if (who_ != nullptr && who_generation_ != generation) Adopt(access.Renew(*who_), generation);
  std::string_view rest = *lines;
  const std::string_view first = TakeLine(&rest);
  const bool about_him = IsAuthLine(first);
  if (!about_him && who_ == nullptr) Adopt(KnownBy({}), generation);
  if (!about_him && who_ != nullptr) {
    // Only the lines before the next `auth` line run now. The next call handles that line.
    const size_t next = lines->find("\nauth");
    *lines = lines->substr(0, next == std::string_view::npos ? next : next + 1);
    return true;
  }
  line_bytes_ = lines->size() - rest.size();
  Credentials said;
  if (about_him) said = ReadAuthLine(first);
  Adopt(access.Known(said), generation);
  if (who_ != nullptr || said.kind != Credentials::Kind::kPassword) {
    AnswerAuth(who_);
  } else if (!JudgePassword(std::move(said))) {
    RetryLater();
  }
  return false;
}

void Connection::AnswerAuth(const IdentityPtr& who) {
  edge_.services.counters.rpc_telnet.fetch_add(1, std::memory_order_relaxed);
  if (who == nullptr) {
    edge_.services.counters.unauthorized_telnet.fetch_add(1, std::memory_order_relaxed);
    const std::string remote = stream_.Remote();
    AccessRefusal refusal;
    refusal.remote = remote;
    refusal.status = 401;
    edge_.services.access->TellRefused(refusal);
  }
  retries_ = 0;
  SendTelnet(who != nullptr ? kAuthSuccess : kAuthFail);
  FinishLines();
}

bool Connection::JudgePassword(Credentials said) {
  judge_generation_ = edge_.services.access->generation();
  auto run = [said = std::move(said), lent = LentConnection(shared_from_this(), loop_),
              &access = *edge_.services.access](WorkerPool::Turn&) mutable {
    IdentityPtr who;
    // If memory is exhausted, the client is refused as if the password were wrong.
    (void)Survive([&] { who = access.Judge(said); });
    lent.GiveBack([who](Connection& connection) { connection.Judged(who); });
  };
  if (!edge_.passwords.Post(std::move(run))) return false;
  state_ = State::kHandling;
  return true;
}

void Connection::Judged(const IdentityPtr& who) {
  if (state_ != State::kHandling) return;
  state_ = State::kReading;
  Adopt(who, judge_generation_);
  if (protocol_ == Protocol::kTelnet) {
    AnswerAuth(who_);
  } else if (who_ != nullptr || AdmitStranger()) {
    HeadAdmitted();
  }
  Advance();
}

}  // namespace hg::http
