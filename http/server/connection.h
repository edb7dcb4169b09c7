#pragma once
// One client connection. Its first byte decides between HTTP and telnet (opentsdb-http-api.md §1).
// A connection reads into its own buffer, serves one request at a time and responds in order. Only
// the server uses this file, which includes Asio.

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
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

/// The object exists as long as an operation on it is pending. Only the thread of its loop may call
/// its functions, unless their comments say otherwise.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Stream stream, Loop& loop);
  ~Connection();

  void Start();
  /// Handles the next request whose bytes were already received (Loop::ContinueLater).
  void Continue();
  /// Called when the commit for which this connection waits has succeeded or failed.
  void Committed(const Status& status);
  /// Called about once a second. Closes the connection if it was idle or too slow for too long.
  void Sweep();
  /// Closes the connection at once, in any state.
  void Close();
  void CloseWhenIdle();
  /// Returns a readable description of the current work of the connection: method and path of the
  /// request, or the protocol.
  [[nodiscard]] std::string Doing() const;

 private:
  enum class Protocol : uint8_t { kUnknown, kHttp, kTelnet };
  enum class State : uint8_t {
    kReading,     // waits for bytes from the client
    kCommitting,  // has appended points and waits for the log
    kHandling,    // a pool thread runs the handler
    kReplying,    // is sending the rest of a reply
    kRetrying,    // telnet: the store rejected the lines; tries again later
    kUnread,      // telnet: waits until the client reads its replies
    kLingering,   // has sent the reply; drops incoming bytes until the client closes
    kClosed,
  };
  /// The part of an HTTP request that the connection reads next.
  enum class Part : uint8_t { kHead, kBody };
  /// The form of the reply to points that were stored on the fast path.
  struct PutReply {
    bool summary = false, details = false;
    size_t points = 0, text_fields = 0;
  };

  // The following functions are in connection.cc. They read and write bytes.
  void Advance();
  void WaitReadable();
  void OnReadable();
  /// Ends the request that is being handled, because the client has closed the connection.
  void ClientLeft();
  /// Calls `then` after the pause, if the connection is still in this state.
  void PauseThen(std::chrono::milliseconds pause, State state, void (Connection::*then)());
  bool Receive();
  void Transmit(std::string_view bytes);
  void WaitWritable();
  void OnWritable();
  void OnWritten();
  void Linger();
  [[nodiscard]] uint64_t TakenBytes();
  [[nodiscard]] bool stopping() const;
  void ShutdownSend();

  // The following functions are in connection_http.cc.
  bool AdvanceHttp();
  bool OnHead();
  void HeadAdmitted();
  bool OnBody(std::string_view body);
  void OnPackedBody(std::string_view body, BodyForm form);
  bool TryPut(std::string_view body);
  bool TryInflux(std::string_view body);
  [[nodiscard]] bool MayGoFast() const;
  /// Handles the result of appending points on the fast path: waits for the commit, or sends the
  /// error. Returns false if a series is unknown; nothing was stored then.
  bool Appended(const Result<PointSink::Appended>& appended, size_t points,
                std::atomic<uint64_t>* requests);
  void Handle(std::string_view body, BodyForm form = {});
  bool TryOnLoop(Request& request);
  void Pump();
  /// Sends 400 for a malformed request and then closes the connection.
  void RefuseMalformed(std::string_view fault);
  void RefuseHead(int status, std::string_view message, bool as_page);
  /// Sends the reply that `send` writes and then closes the connection. Does not read the body of
  /// the request.
  void RefuseHead(const Request& request,
                  const std::function<void(const Request&, ResponseWriter&)>& send);
  /// Sends the error with which a share refused memory for the request.
  void RefuseMemory(const Status& refusal);
  /// Charges the bytes of a request of which the rest has not arrived. Returns true if the memory
  /// is refused and the error was sent.
  bool RefuseUnfinished();
  /// Releases the memory of a request that has ended.
  void LetGoBody();
  /// Frees most of the receive buffer if idle clients hold too much. Its contents stay.
  void LetGoBuffer();
  void ReplyInline(const Request& request, const Status& status);
  /// Sends a whole reply. The next request is served after the kernel has taken the whole reply.
  void TransmitReply(std::string_view bytes);
  void PutCommitted(const Status& status);
  void ReplySent();
  /// Makes a Request from head_. Sets *escapes_good to whether the query string could be decoded.
  std::unique_ptr<Request> MakeRequest(std::string_view body, bool* escapes_good = nullptr);

  // The following functions are in connection_access.cc, for authentication. If authentication is
  // off, each of them costs one comparison.
  [[nodiscard]] bool Guarded() const;
  [[nodiscard]] bool May(Role role) const;
  [[nodiscard]] Roles roles() const;
  /// Returns whether the request whose head was read may be processed now. Returns false if it was
  /// rejected, or if it waits until a pool thread has checked its password.
  bool Admit();
  bool AdmitStranger();
  [[nodiscard]] IdentityPtr KnownBy(const Credentials& said) const;
  /// Shortens *lines to those that may run now. If the first line is an `auth` line or the client
  /// is not authenticated, handles this line and returns false.
  bool AdmitLines(std::string_view* lines);
  void AnswerAuth(const IdentityPtr& who);
  /// Passes a password to a pool thread, which checks it. Returns false if too many passwords
  /// already wait for a check.
  bool JudgePassword(Credentials said);
  void Judged(const IdentityPtr& who);
  void Adopt(IdentityPtr who, uint64_t generation);
  /// Returns the write limits of the client; null = unlimited.
  const std::shared_ptr<Writer>& writer();

  // The following functions are in connection_telnet.cc.
  bool AdvanceTelnet();
  bool TryLines(std::string_view lines);
  void LinesCommitted(const Status& status);
  void RunLines(std::string_view lines);
  void LinesDone(const LinesResult& result);
  void FinishLines();
  void RetryLater();
  void RetryLines();
  [[nodiscard]] bool GoneTooLong();
  [[nodiscard]] bool TooMuchUnread() const;
  void SendTelnet(std::string_view text);

  Loop& loop_;
  Edge& edge_;
  Stream stream_;
  RequestMemory::Share body_memory_;  // for bytes of a request in buffer_ and the unpacked body
  RequestMemory::Share unfinished_memory_;  // for the bytes that are free in body_memory_
  RequestMemory::Share kept_memory_;        // for the capacity of buffer_ between requests
  RequestMemory::Share unread_memory_;      // telnet: for the capacity of out_
  RequestMemory::Share handshake_memory_;   // for the TLS handshake
  ReceiveBuffer buffer_;
  Protocol protocol_ = Protocol::kUnknown;
  State state_ = State::kReading;
  bool waiting_readable_ = false;
  bool end_of_input_ = false;
  bool close_after_reply_ = false;
  // Set after this connection has finished a request or a batch of lines. The loop then serves
  // other connections before the next request of this one.
  bool gives_way_ = false;
  bool in_backlog_ = false;  // Loop::ContinueLater was called, but Continue was not called yet
  int64_t active_s_ = 0;
  int64_t linger_until_s_ = 0;

  // The authenticated client; null = not authenticated.
  IdentityPtr who_;
  // HTTP: the Authorization field or request target whose credentials identified who_.
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

  // The following members are used only for HTTP.
  uint64_t received_bytes_ = 0;
  TransferPace request_pace_{kSlowRequestBytes};
  Part part_ = Part::kHead;
  RequestHead head_;
  /// Method and path of the last request. They are stored here because head_ ends with the request.
  std::string endpoint_;
  size_t head_scanned_ = 0, head_bytes_ = 0;
  ChunkedDecoder chunks_;
  size_t request_bytes_ = 0;  // bytes of buffer_ that the current request uses
  PutReply put_reply_;
  std::shared_ptr<ReplyQueue> replies_;

  // The following members are used only for telnet.
  size_t line_bytes_ = 0;   // bytes of the lines that are being handled
  size_t line_points_ = 0;  // number of points whose commit the connection waits for
  int retries_ = 0;         // how often the store rejected the lines in a row
  /// The time at which the connection found that the client has closed its side, while its lines
  /// wait to be stored. nullopt: not closed.
  std::optional<int64_t> gone_since_s_;
  // Whether the client has stopped reading its replies; further replies are dropped.
  bool deaf_ = false;
  // Whether the memory of out_ was refused; this lasts until the client has read all replies.
  bool unread_refused_ = false;
  // Also for TLS handshakes that wait.
  std::unique_ptr<boost::asio::steady_timer> retry_timer_;
};

}  // namespace hg::http
