// The part of Connection that handles HTTP (connection.h).

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <memory>

#include "http/access/cross_site.h"
#include "http/intake/failure.h"
#include "http/request/errors.h"
#include "http/request/influx_target.h"
#include "http/request/request.h"
#include "http/routes/router.h"
#include "http/server/connection.h"
#include "http/server/lent_connection.h"
#include "http/server/loop.h"
#include "http/server/put_target.h"
#include "http/wire/body_coding.h"
#include "http/wire/put_json.h"
#include "http/wire/request_memory.h"
#include "storage/model/instant.h"
#include "storage/model/letter_case.h"
#include "storage/model/utf8.h"
#include "storage/model/write_context.h"

namespace hg::http {
namespace {

/// If chunked requests are disabled, a body above this size is refused like a chunked one
/// (opentsdb-http-api.md §2.1).
constexpr uint64_t kWholeBodyBytesMax = 8192;

/// Maximum bytes of a body for which the loop tries to run the request itself. Requests with larger
/// bodies run on the pool.
constexpr size_t kLoopBodyBytesMax = 16384;
/// Maximum bytes of a write request's body that a loop handles itself. Larger bodies are unpacked,
/// parsed and stored on the pool. A body of this size has about 15,000 points and takes about two
/// milliseconds, during which the loop's other clients wait.
constexpr size_t kLoopPointsBytesMax = 1 << 20;

constexpr size_t kKeptPoints = 100'000;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// The response to a put whose points are all stored. It equals the response that a Reply would
/// create.
std::string_view PutDone() {
  static const std::string response =
      "HTTP/1.1 204 No Content\r\nContent-Type: application/json; charset=UTF-8\r\n" +
      std::string(kNoSniff) + "Content-Length: 0\r\n\r\n";
  return response;
}

std::string TooLarge(uint64_t body_max) {
  return "The request's body is larger than " + std::to_string(body_max) +
         " bytes (tsd.http.request.max_chunk)";
}

/// Bytes of parsed documents that are not charged to the memory budget. Few request bodies need
/// more.
constexpr uint64_t kFreeDocumentBytes = 256 * 1024;

/// Runs the handler and finishes its reply. Returns whether the connection may serve another
/// request. An exception (out of memory) fails only this request. If the memory budget refused
/// memory, that error replaces the handler's response.
bool Answer(Request& request, const BodyForm& form, Edge& edge, Reply& reply) {
  Services& services = edge.services;
  std::string what = "unknown exception";
  const int64_t began_ns = services.clock.MonotonicNs();
  try {
    RequestMemory::Share share(edge.memory, kFreeDocumentBytes);
    request.memory = &share;
    std::string text;
    if (!form.plain()) {
      const uint64_t body_max = edge.options.body_bytes_max;
      const auto running = BeginRequest(request, true, services, reply);
      const Status read = ReadBody(form, request.body, body_max, &text, &share, *running);
      request.body = text;
      if (!share.refusal().ok()) {
        SendStatus(reply, request, share.refusal());
        return reply.Finish();
      }
      if (read.code() == StatusCode::kLimitExceeded) {
        SendError(reply, request, 413, TooLarge(body_max));
        return reply.Finish(), false;
      }
      if (!read.ok()) return SendWriteRefusal(reply, request, read), reply.Finish();
    }
    Dispatch(request, services, reply);
    if (request.refused) return true;
    if (!share.refusal().ok()) SendStatus(reply, request, share.refusal());
    const bool more = reply.Finish();
    services.counters.all_requests.Record(
        std::chrono::nanoseconds(services.clock.MonotonicNs() - began_ns));
    return more;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  services.counters.rpc_exceptions.fetch_add(1, std::memory_order_relaxed);
  if (reply.Started()) return reply.Cut(), false;
  try {
    SendError(reply, request, 500, "Internal error: " + what);
    return reply.Finish();
  } catch (...) {
    return false;
  }
}

/// Returns hooks that write the reply to a string, which must outlive them.
ReplyHooks Into(std::string* bytes) {
  ReplyHooks hooks;
  hooks.send = [bytes](std::string piece) {
    bytes->append(piece);
    return true;
  };
  return hooks;
}

}  // namespace

bool Connection::AdvanceHttp() {
  if (part_ == Part::kHead) {
    std::string_view fault;
    switch (ParseRequestHead(buffer_.view(), &head_scanned_, &head_, &head_bytes_, &fault)) {
      case HeadResult::kIncomplete:
        return RefuseUnfinished();
      case HeadResult::kMalformed:
        RefuseMalformed(fault);
        return true;
      case HeadResult::kRefused:
        edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
        Close();
        return false;
      case HeadResult::kDone:
        break;
    }
    part_ = Part::kBody;
    chunks_ = ChunkedDecoder();
    if (!OnHead()) return true;
  }
  if (!body_memory_.Cover(buffer_.size())) {
    RefuseMemory(body_memory_.refusal());
    return true;
  }
  const uint64_t body_max = edge_.options.body_bytes_max;
  if (head_.chunked) {
    const auto state = chunks_.Feed(buffer_.data() + head_bytes_, buffer_.size() - head_bytes_);
    if (state == ChunkedDecoder::State::kMalformed) {
      RefuseMalformed("The body breaks the rules of the chunked transfer coding");
      return true;
    }
    if (chunks_.decoded() > body_max || chunks_.raw() / 2 > body_max) {
      RefuseHead(413, TooLarge(body_max), false);
      return true;
    }
    if (state == ChunkedDecoder::State::kIncomplete) return RefuseUnfinished();
    request_bytes_ = head_bytes_ + chunks_.raw();
    return OnBody({buffer_.data() + head_bytes_, chunks_.decoded()});
  }
  request_bytes_ = head_bytes_ + static_cast<size_t>(head_.content_length);
  if (buffer_.size() < request_bytes_) {
    if (RefuseUnfinished()) return true;
    buffer_.Reserve(request_bytes_);
    return false;
  }
  return OnBody({buffer_.data() + head_bytes_, static_cast<size_t>(head_.content_length)});
}

bool Connection::OnHead() {
  SetEndpointText(head_.method, head_.target, &endpoint_);
  Counters& counters = edge_.services.counters;
  (IsPluginPath(head_.target) ? counters.rpc_http_plugin : counters.rpc_http)
      .fetch_add(1, std::memory_order_relaxed);
  if (head_.target[0] != '/') {
    RefuseMalformed("The target of the request line does not begin with '/'");
    return false;
  }
  if (checks_hosts_ && !IsKnownHost(head_.host, edge_.options)) {
    edge_.services.counters.forbidden_http.fetch_add(1, std::memory_order_relaxed);
    std::string host(head_.host);
    ReplaceInvalidUtf8(&host);
    RefuseHead(403,
               "Unknown Host '" + host +
                   "': tsd.http.request.hosts lists the names, besides localhost, by which this "
                   "daemon may "
                   "be called",
               false);
    return false;
  }
  const bool chunked =
      head_.chunked || head_.expects_continue || head_.content_length > kWholeBodyBytesMax;
  if (chunked && !edge_.options.chunked_enabled) {
    RefuseHead(400, "Chunked request not supported.", true);
    return false;
  }
  if (!head_.unknown_coding.empty() && (head_.chunked || head_.content_length > 0)) {
    std::string coding(head_.unknown_coding);
    ReplaceInvalidUtf8(&coding);
    RefuseHead(415,
               "Unknown Content-Encoding '" + coding + "' (expected gzip, deflate or identity)",
               false);
    return false;
  }
  if (head_.content_length > edge_.options.body_bytes_max) {
    RefuseHead(413, TooLarge(edge_.options.body_bytes_max), false);
    return false;
  }
  if (!Admit()) return false;
  HeadAdmitted();
  return state_ == State::kReading;
}

void Connection::HeadAdmitted() {
  if (head_.expects_continue) Transmit(kContinue);
}

void Connection::RefuseMalformed(std::string_view fault) {
  edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
  Request nameless;  // the head cannot be trusted, so the reply uses none of it
  nameless.api_version = 1;
  RefuseHead(nameless, [fault](const Request& refused, ResponseWriter& out) {
    SendError(out, refused, 400, fault);
  });
}

void Connection::RefuseHead(int status, std::string_view message, bool as_page) {
  const std::unique_ptr<Request> request = MakeRequest({});
  if (as_page) request->api_version = -1;
  RefuseHead(*request, [status, message](const Request& refused, ResponseWriter& out) {
    SendError(out, refused, status, message);
  });
}

void Connection::RefuseHead(const Request& request,
                            const std::function<void(const Request&, ResponseWriter&)>& send) {
  std::string bytes;
  Reply reply(ReplyForm::Of(head_), Into(&bytes));
  reply.AddHeader("Connection", "close");
  send(request, reply);
  reply.Finish();
  Transmit(bytes);
  if (state_ != State::kClosed) Linger();
}

void Connection::RefuseMemory(const Status& refusal) {
  std::unique_ptr<Request> request;
  if (part_ == Part::kBody) {
    request = MakeRequest({});
  } else {
    head_ = {};  // removes the head of the previous request
    request = std::make_unique<Request>();
    request->api_version = 1;
  }
  RefuseHead(*request, [&refusal](const Request& refused, ResponseWriter& out) {
    SendStatus(out, refused, refusal);
  });
}

std::unique_ptr<Request> Connection::MakeRequest(std::string_view body, bool* escapes_good) {
  auto request = std::make_unique<Request>();
  request->method_text = head_.method;
  request->method = MethodOf(head_.method);
  request->target = head_.target;
  request->headers.reserve(head_.fields.size());
  for (const auto& [name, value] : head_.fields) {
    request->headers.emplace_back(LowerCase(name), value);
    ReplaceInvalidUtf8(&request->headers.back().second);  // header values are later shown in JSON
  }
  request->body = body;
  request->roles = roles();
  if (who_ != nullptr) request->user = who_->name;
  request->writer = writer();
  request->remote = stream_.Remote();
  const bool good = ParseTarget(request.get());
  if (escapes_good != nullptr) *escapes_good = good;
  return request;
}

bool Connection::OnBody(std::string_view body) {
  BodyForm form = FormOfBody(head_, body.size());
  if (!form.plain()) {
    OnPackedBody(body, std::move(form));
  } else if (body.size() > kLoopPointsBytesMax || !(TryPut(body) || TryInflux(body))) {
    Handle(body);
  }
  // The memory that a rare huge request needed is freed.
  if (loop_.points.capacity() > kKeptPoints) std::vector<KeyedPoint>().swap(loop_.points);
  if (loop_.influx.fields.capacity() > kKeptPoints) loop_.influx = InfluxPoints();
  return true;
}

void Connection::OnPackedBody(std::string_view body, BodyForm form) {
  const uint64_t body_max = edge_.options.body_bytes_max;
  const uint64_t text_max = std::min<uint64_t>(body_max, kLoopPointsBytesMax);
  // Bodies in charsets other than UTF-8 never take the fast path, and the tables of these charsets
  // may have to be read from disk.
  const bool unpacked =
      form.charset.empty() && body.size() <= kUnpackedOnLoopBytes &&
      UnpackAtOnce(form.coding, body, text_max, kPutPadding, &loop_.unpacked, &body_memory_);
  if (!body_memory_.refusal().ok()) return RefuseMemory(body_memory_.refusal());
  if (!unpacked) return Handle(body, std::move(form));
  const std::string_view text = loop_.unpacked;
  if (!(TryPut(text) || TryInflux(text))) Handle(text);
}

bool Connection::MayGoFast() const {
  if (head_.method != "POST" || edge_.options.mode == Mode::kReadOnly ||
      !edge_.options.api_enabled || !May(Role::kWrite)) {
    return false;
  }
  // The slow path adds CORS headers to replies to web pages, or refuses their requests.
  return !head_.tells_of_page;
}

bool Connection::TryPut(std::string_view body) {
  if (!MayGoFast()) return false;
  const PutTarget target = ParsePutTarget(head_.target);
  if (!target.plain || !loop_.parser.Parse(body, &loop_.points) || loop_.points.empty())
    return false;
  put_reply_ = {.summary = target.summary, .details = target.details};
  WriteContext context(RequestContext::Unlimited(), writer().get());
  return Appended(edge_.services.sink.AppendKeyed(loop_.points, context), loop_.points.size(),
                  &edge_.services.counters.rpc_put);
}

bool Connection::TryInflux(std::string_view body) {
  const auto unit = PlainInfluxUnit(head_.target);
  if (!unit || !MayGoFast()) return false;
  const auto now = TimestampOfMillis(edge_.services.clock.NowMs());
  InfluxPoints& points = loop_.influx;
  if (!now || !ParseInfluxLines(body, *unit, *now, &points) || points.fields.empty()) return false;
  put_reply_ = {.text_fields = points.text_fields};
  WriteContext context(RequestContext::Unlimited(), writer().get());
  return Appended(edge_.services.sink.AppendLines(points.lines, points.fields, context),
                  points.fields.size(), &edge_.services.counters.rpc_influx);
}

bool Connection::Appended(const Result<PointSink::Appended>& appended, size_t points,
                          std::atomic<uint64_t>* requests) {
  if (!appended.ok()) {
    // After other failures, the slow path reports an error per point.
    const Failure failure = FailureOf(appended.status());
    if (!RefusesAll(failure)) return false;
    CountFailure(failure, points, &edge_.services.counters);
    ReplyInline(*MakeRequest({}), appended.status());
    return true;
  }
  if (!appended->known) return false;
  requests->fetch_add(1, std::memory_order_relaxed);
  put_reply_.points = points;
  state_ = State::kCommitting;
  loop_.CommitLater(shared_from_this(), appended->position);
  return true;
}

void Connection::PutCommitted(const Status& status) {
  Counters& counters = edge_.services.counters;
  CountFailure(FailureOf(status), put_reply_.points, &counters);
  if (status.ok()) {
    counters.points_added.fetch_add(put_reply_.points, std::memory_order_relaxed);
    counters.text_fields.fetch_add(put_reply_.text_fields, std::memory_order_relaxed);
  }
  if (!status.ok()) {
    ReplyInline(*MakeRequest({}), status);
  } else if (!put_reply_.summary && !put_reply_.details && head_.keep_alive) {
    TransmitReply(PutDone());
    return Advance();
  } else {
    std::string bytes;
    ReplyForm form = ReplyForm::Of(head_);
    form.coding = ContentCoding::kNone;  // the body has about thirty bytes
    Reply reply(form, Into(&bytes));
    if (put_reply_.summary || put_reply_.details) {
      reply.Write("{\"success\":" + std::to_string(put_reply_.points) + ",\"failed\":0" +
                  (put_reply_.details ? ",\"errors\":[]}" : "}"));
    } else {
      reply.SetStatus(204);
    }
    close_after_reply_ |= !reply.Finish();
    TransmitReply(bytes);
  }
  Advance();
}

// Tries to run the request on the loop, because waking a pool thread costs more than a small
// request. Returns false without any effect if the pool must run the request.
bool Connection::TryOnLoop(Request& request) {
  if (request.body.size() > kLoopBodyBytesMax || !MayAnswerOnLoop(request, edge_.options))
    return false;
  // A handler on the pool can wait for its client. A loop would have to cut the reply.
  if (edge_.unread_replies.scarce()) return false;
  std::string bytes;
  Reply reply(ReplyForm::Of(head_), Into(&bytes));
  request.on_loop = true;
  const bool more = Answer(request, {}, edge_, reply);
  request.on_loop = false;
  if (std::exchange(request.refused, false)) return false;
  if (reply.Cancelled()) return Close(), true;  // the reply was cut, and nothing was sent yet
  close_after_reply_ |= !more;
  TransmitReply(bytes);
  return true;
}

void Connection::ReplyInline(const Request& request, const Status& status) {
  std::string bytes;
  Reply reply(ReplyForm::Of(head_), Into(&bytes));
  SendWriteRefusal(reply, request, status);
  close_after_reply_ |= !reply.Finish();
  TransmitReply(bytes);
}

void Connection::TransmitReply(std::string_view bytes) {
  state_ = State::kReplying;
  Transmit(bytes);
  if (state_ == State::kClosed) return;
  if (!write_pending_) return ReplySent();
  // Clients that do not read hold all the memory for unread replies. A loop cannot wait for memory.
  if (!unread_memory_.Cover(out_.capacity())) Close();
}

void Connection::Handle(std::string_view body, BodyForm form) {
  struct Job {
    Job(ReplyForm form, const std::shared_ptr<ReplyQueue>& queue)
        : reply(form, {[queue, this](std::string piece) {
                         return queue->Push(std::move(piece), [this] { return turn->GiveWay(); });
                       },
                       [queue] { return queue->cancelled(); }, [this] { turn->GiveWay(); },
                       [queue] { queue->Abandon(); }}) {}
    WorkerPool::Turn* turn = nullptr;  // valid while the job runs
    std::unique_ptr<Request> request;
    BodyForm form;
    std::string unpacked;  // owns the body if the loop unpacked it
    Reply reply;
  };
  bool escapes_good = true;
  std::unique_ptr<Request> request = MakeRequest(body, &escapes_good);
  if (!escapes_good) {
    return ReplyInline(*request, Status::InvalidArgument("Bad percent escape in the query string"));
  }
  if (form.plain() && TryOnLoop(*request)) return;
  const bool write = request->method == Method::kPost &&
                     (IsPutPath(head_.target) || IsInfluxWritePath(head_.target));
  const auto wake = [self = weak_from_this(), &io = loop_.io()] {
    boost::asio::post(io, [self] {
      const auto connection = self.lock();
      if (connection == nullptr) return;
      const Turn turn(connection->loop_.turns(), [&] { return connection->Doing(); });
      connection->Pump();
    });
  };
  auto replies = std::make_shared<ReplyQueue>(wake, edge_.unread_replies);
  auto job = std::make_shared<Job>(ReplyForm::Of(head_), replies);
  job->request = std::move(request);
  job->form = std::move(form);
  if (body.data() == loop_.unpacked.data()) {
    job->unpacked = std::move(loop_.unpacked);
    job->request->body = job->unpacked;
  }
  // The body is in the connection's buffer, so the job keeps the connection alive.
  auto run = [job, replies, lent = LentConnection(shared_from_this(), loop_),
              &edge = edge_](WorkerPool::Turn& turn) mutable {
    job->turn = &turn;
    bool keep_alive = false, read = true;
    (void)Survive([&] { keep_alive = Answer(*job->request, job->form, edge, job->reply); });
    // If End runs out of memory, Pump detects the failure.
    (void)Survive([&] { read = replies->End(keep_alive, [&] { return turn.GiveWay(); }); });
    lent.GiveBack([read, replies](Connection& connection) {
      // The client may have taken the end of the reply meanwhile, and sent the next request.
      if (!read && connection.replies_ == replies) return connection.Close();
      connection.Pump();
    });
  };
  WorkerPool& pool = write ? edge_.writes : edge_.requests;
  state_ = State::kHandling;
  replies_ = std::move(replies);
  if (pool.Post(std::move(run))) return;
  replies_.reset();
  ReplyInline(*job->request, Status::Busy("Too many requests are waiting; please try again"));
}

void Connection::Pump() {
  if (state_ != State::kHandling || write_pending_ || replies_ == nullptr) return;
  std::string piece;
  while (replies_->Take(&piece)) {
    try {
      Transmit(piece);
    } catch (...) {
      Close();  // otherwise the handler would wait for ever until the piece is sent
      throw;
    }
    if (write_pending_ || state_ != State::kHandling) return;
  }
  bool keep_alive = true;
  if (!replies_->Finished(&keep_alive)) return;
  if (replies_->Abandoned()) return Close();
  replies_.reset();
  close_after_reply_ |= !keep_alive;
  state_ = State::kReplying;
  ReplySent();
  Advance();
}

void Connection::ReplySent() {
  reply_pace_.End();
  request_pace_.End();
  buffer_.Consume(request_bytes_);
  LetGoBody();
  request_bytes_ = 0;
  part_ = Part::kHead;
  head_scanned_ = 0;
  if (close_after_reply_) {
    if (end_of_input_ || stopping()) return Close();
    return Linger();
  }
  state_ = State::kReading;
  gives_way_ = true;
}

}  // namespace hg::http
