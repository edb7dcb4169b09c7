#pragma once
// One client connection. Its first byte decides between HTTP and telnet (opentsdb-http-api.md §1).
// A connection reads into its own buffer, serves one request at a time and answers in order.
// Internal to the server; includes Asio.

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/access/access.h"
#include "http/request/body_form.h"
#include "http/request/reply.h"
#include "http/server/receive_buffer.h"
#include "http/server/stream.h"
#include "http/server/transfer_pace.h"
#include "http/wire/chunked.h"
#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"
#include "storage/base/status.h"
#include "storage/model/point_sink.h"

namespace hg {
class Writer;
}

namespace hg::http {

class Loop;
struct Edge;
struct LinesResult;
struct Request;

/// The object lives as long as an operation on it is pending. Its functions may be called only on
/// the thread of its loop, unless their comments say otherwise.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Stream stream, Loop& loop);
  ~Connection();

  void Start();
  /// Handles the next request that was already received (Loop::ContinueLater).
  void Continue();
  /// Called when the commit that this connection waits for has succeeded or failed.
  void Committed(const Status& status);
  /// Called about once a second: closes connections that were idle, slow or lingering for too long.
  void Sweep();
  /// Closes at once, in any state.
  void Close();
  void CloseWhenIdle();
  /// Returns a readable description of the work that the connection does now: method and path of
  /// the request, or the protocol.
  [[nodiscard]] std::string Doing() const;

 private:
  enum class Protocol : uint8_t { kUnknown, kHttp, kTelnet };
  enum class State : uint8_t {
    kReading,     // waits for bytes
    kCommitting,  // points are appended; waits for the log
    kHandling,    // a pool thread runs the handler
    kReplying,    // the rest of a reply is being sent
    kRetrying,    // telnet: the store refused the lines; they are tried again later
    kUnread,      // telnet: waits until the client reads its replies
    kLingering,   // the reply is sent; drops incoming bytes until the client closes
    kClosed,
  };
  /// The next part of an HTTP request that the connection reads.
  enum class Part : uint8_t { kHead, kBody };
  /// The form of the reply to points that were stored on the fast path.
  struct PutReply {
    bool summary = false, details = false;
    size_t points = 0, text_fields = 0;
  };

  // Defined in connection.cc: reading and writing bytes.
  void Advance();
  void WaitReadable();
  void OnReadable();
  /// Ends the request that is being handled, because the client has closed the connection.
  void ClientLeft();
  bool Receive();
  void Transmit(std::string_view bytes);
  void WaitWritable();
  void OnWritable();
  void OnWritten();
  void Linger();
  [[nodiscard]] uint64_t TakenBytes();
  [[nodiscard]] bool stopping() const;
  void ShutdownSend();

  // Defined in connection_http.cc.
  bool AdvanceHttp();
  bool OnHead();
  void HeadAdmitted();
  bool OnBody(std::string_view body);
  void OnPackedBody(std::string_view body, BodyForm form);
  bool TryPut(std::string_view body);
  bool TryInflux(std::string_view body);
  [[nodiscard]] bool MayGoFast() const;
  /// Handles the result of appending points on the fast path: waits for the commit, or sends the
  /// error. False: not all series are known, and nothing was stored.
  bool Appended(const Result<PointSink::Appended>& appended, size_t points,
                std::atomic<uint64_t>* requests);
  void Handle(std::string_view body, BodyForm form = {});
  bool TryOnLoop(Request& request);
  void Pump();
  /// Answers a malformed request with 400 and then closes the connection.
  void RefuseMalformed(std::string_view fault);
  void RefuseHead(int status, std::string_view message, bool as_page);
  /// Sends the reply that `send` writes, and then closes the connection. The body of the request is
  /// not read.
  void RefuseHead(const Request& request,
                  const std::function<void(const Request&, ResponseWriter&)>& send);
  /// Sends the error with which a share refused memory for the request.
  void RefuseMemory(const Status& refusal);
  /// Charges the bytes of a request of which the rest has not arrived. Returns true if the memory
  /// is refused and the error was sent.
  bool RefuseUnfinished();
  /// Gives back the memory of a request that has ended.
  void LetGoBody();
  /// Frees most of the receive buffer if idle clients hold too much. Its contents stay.
  void LetGoBuffer();
  void ReplyInline(const Request& request, const Status& status);
  /// Sends a whole reply. The next request is served once the kernel has taken all of it.
  void TransmitReply(std::string_view bytes);
  void PutCommitted(const Status& status);
  void ReplySent();
  /// Makes a Request from head_. Sets *escapes_good to whether its query string could be decoded.
  std::unique_ptr<Request> MakeRequest(std::string_view body, bool* escapes_good = nullptr);

  // Defined in connection_access.cc: authentication. If authentication is off, each of these
  // functions costs one comparison.
  [[nodiscard]] bool Guarded() const;
  [[nodiscard]] bool May(Role role) const;
  [[nodiscard]] Roles roles() const;
  /// Returns true if the request whose head was read may be processed now. Returns false if it was
  /// refused, or if it waits until a pool thread has checked its password.
  bool Admit();
  bool AdmitStranger();
  [[nodiscard]] IdentityPtr KnownBy(const Credentials& said) const;
  /// Shortens *lines to those that may run now. Returns false if the first line is an `auth` line
  /// or the client is not authenticated; then this function has handled the line.
  bool AdmitLines(std::string_view* lines);
  void AnswerAuth(const IdentityPtr& who);
  /// Passes a password to a pool thread that checks it. Returns false if too many passwords already
  /// wait for a check.
  bool JudgePassword(Credentials said);
  void Judged(const IdentityPtr& who);
  void Adopt(IdentityPtr who, uint64_t generation);
  /// The write limits of the client; null = unlimited.
  const std::shared_ptr<Writer>& writer();

  // Defined in connection_telnet.cc.
  bool AdvanceTelnet();
  bool TryLines(std::string_view lines);
  void LinesCommitted(const Status& status);
  void RunLines(std::string_view lines);
  void LinesDone(const LinesResult& result);
  void FinishLines();
  void RetryLater();
  [[nodiscard]] bool GoneTooLong();
  [[nodiscard]] bool TooMuchUnread() const;
  void SendTelnet(std::string_view text);

  Loop& loop_;
  Edge& edge_;
  Stream stream_;
  RequestMemory::Share body_memory_;        // for request bytes in buffer_ and for unpacked bodies
  RequestMemory::Share unfinished_memory_;  // for the bytes that are free in body_memory_
  RequestMemory::Share kept_memory_;        // for the capacity of buffer_ between requests
  ReceiveBuffer buffer_;
  Protocol protocol_ = Protocol::kUnknown;
  State state_ = State::kReading;
  bool waiting_readable_ = false;
  bool end_of_input_ = false;
  bool close_after_reply_ = false;
  // True after this connection has finished a request or a batch of lines. The loop then serves
  // other connections before the next request of this one.
  bool gives_way_ = false;
  int64_t active_s_ = 0;
  int64_t linger_until_s_ = 0;

  // The authenticated client; null = not authenticated.
  IdentityPtr who_;
  // HTTP: the Authorization field or the request target whose credentials proved who_
  std::string credentials_;
  uint64_t who_generation_ = 0;  // Access::generation() when who_ was looked up
  uint64_t judge_generation_ = 0;
  std::shared_ptr<Writer> writer_;  // null: not looked up yet

  // Output that the socket did not take at once.
  std::string out_;
  size_t out_sent_ = 0;  // bytes of out_ that were sent
  bool write_pending_ = false;
  uint64_t sent_bytes_ = 0;  // bytes of output that the kernel has taken
  TransferPace reply_pace_{kSlowReplyBytes};

  // The following members are used for HTTP only.
  uint64_t received_bytes_ = 0;
  TransferPace request_pace_{kSlowRequestBytes};
  Part part_ = Part::kHead;
  RequestHead head_;
  /// Method and path of the last request; kept because head_ ends with the request.
  std::string endpoint_;
  size_t head_scanned_ = 0, head_bytes_ = 0;
  ChunkedDecoder chunks_;
  size_t request_bytes_ = 0;  // bytes of buffer_ that the current request uses
  PutReply put_reply_;
  std::shared_ptr<ReplyQueue> replies_;

  // The following members are used for telnet only.
  size_t line_bytes_ = 0;   // bytes of the lines that are being handled
  size_t line_points_ = 0;  // points whose commit is awaited
  int retries_ = 0;         // consecutive refusals by the store
  /// The time at which the client was seen to have closed its side of the connection while its
  /// lines wait to be stored. Empty: not closed.
  std::optional<int64_t> gone_since_s_;
  // True once the client does not read its replies; further replies are dropped.
  bool deaf_ = false;
  std::unique_ptr<boost::asio::steady_timer> retry_timer_;
};

}  // namespace hg::http
