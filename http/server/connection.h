#pragma once
// One client connection. The first byte from the client decides between HTTP and telnet
// (opentsdb-http-api.md §1). A connection reads into its own buffer, serves one request at a time,
// and sends the responses in the order of the requests. Only the server uses this file, which
// includes Asio.

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

/// A client connection. The object exists as long as an asynchronous operation of it is pending.
/// Only the thread of its event loop may call its functions, unless the comment of a function
/// allows other threads.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `checks_hosts`: whether the Host field of a request must have a known name
  /// (access/cross_site.h).
  Connection(Stream stream, Loop& loop, bool checks_hosts);
  ~Connection();

  void Start();
  /// Handles the next request from bytes that were already received (see Loop::ContinueLater).
  void Continue();
  /// The event loop calls this function when the commit for which the connection waits has
  /// succeeded or failed.
  void Committed(const Status& status);
  /// Closes the connection if it was idle or too slow for too long. The event loop calls this
  /// function about once a second.
  void Sweep();
  /// Closes the connection at once, whatever its state is.
  void Close();
  void CloseWhenIdle();
  /// Returns a text that describes the current work of the connection: the method and the path of
  /// the request, or the protocol.
  [[nodiscard]] std::string Doing() const;

 private:
  enum class Protocol : uint8_t { kUnknown, kHttp, kTelnet };
  enum class State : uint8_t {
    kReading,     // the connection waits for bytes from the client
    kCommitting,  // the connection has appended points and waits for the log
    kHandling,    // a pool thread runs a handler or telnet lines, or checks a password
    kReplying,    // the connection is sending the rest of a reply
    kRetrying,    // telnet: the store rejected the lines; the connection tries them again later
    kUnread,      // telnet: the connection waits until the client reads its replies
    /// The connection has sent the reply. It drops incoming bytes until the client closes.
    kLingering,
    kClosed,
  };
  /// The part of an HTTP request that the connection reads at the moment.
  enum class Part : uint8_t { kHead, kBody };
  /// The form of the reply to a request whose points were stored on the fast path.
  struct PutReply {
    bool summary = false, details = false;
    size_t points = 0, text_fields = 0;
  };

  // The following functions are defined in connection.cc. They read and write bytes.
  void Advance();
  void WaitReadable();
  void OnReadable();
  /// Records that the client has closed its sending side, and cancels the request that is being
  /// handled.
  void ClientLeft();
  /// Calls `then` after the pause, if the connection is in the state `state` at that time.
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

  // The following functions are defined in connection_http.cc.
  bool AdvanceHttp();
  bool OnHead();
  void HeadAdmitted();
  bool OnBody(std::string_view body);
  void OnPackedBody(std::string_view body, BodyForm form);
  bool TryPut(std::string_view body);
  bool TryInflux(std::string_view body);
  [[nodiscard]] bool MayGoFast() const;
  /// Handles the result of appending points on the fast path: waits for the commit, or sends the
  /// error if the store rejects all points. Returns false if the slow path must store all points,
  /// because a series is unknown or a single point has a failure.
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
  /// Sends the error for a request for which there was not enough memory, and then closes the
  /// connection. `refusal` is the error of the RequestMemory::Share.
  void RefuseMemory(const Status& refusal);
  /// Charges the memory of a request whose bytes have not all arrived. If there is not enough
  /// memory, sends an error reply and returns true.
  bool RefuseUnfinished();
  /// Releases the memory that was charged for a request that has ended.
  void LetGoBody();
  /// Frees the unused memory of the receive buffer if Edge::kept_buffers, the limit for the buffers
  /// of all idle connections, has no room for it. The contents of the buffer stay.
  void LetGoBuffer();
  void ReplyInline(const Request& request, const Status& status);
  /// Sends a whole reply. The connection serves the next request after the kernel has taken the
  /// whole reply.
  void TransmitReply(std::string_view bytes);
  void PutCommitted(const Status& status);
  void ReplySent();
  /// Creates a Request from head_ and `body`. Sets *escapes_good to whether the query string could
  /// be decoded.
  std::unique_ptr<Request> MakeRequest(std::string_view body, bool* escapes_good = nullptr);

  // The following functions are defined in connection_access.cc; they authenticate clients. If
  // authentication is off, each of them costs only one comparison.
  [[nodiscard]] bool Guarded() const;
  [[nodiscard]] bool May(Role role) const;
  [[nodiscard]] Roles roles() const;
  /// Returns whether the request whose head was read may be processed now. Returns false if the
  /// request was rejected, or if it must wait until a pool thread has checked its password.
  bool Admit();
  bool AdmitStranger();
  [[nodiscard]] IdentityPtr KnownBy(const Credentials& said) const;
  /// Shortens *lines to the lines that may run now. If the first line is an `auth` line or the
  /// client is not authenticated, handles the first line and returns false.
  bool AdmitLines(std::string_view* lines);
  void AnswerAuth(const IdentityPtr& who);
  /// Lets a pool thread check a password. Returns false if too many passwords are already waiting
  /// for a check.
  bool JudgePassword(Credentials said);
  void Judged(const IdentityPtr& who);
  void Adopt(IdentityPtr who, uint64_t generation);
  /// Returns the write limits of the client; null = unlimited.
  const std::shared_ptr<Writer>& writer();

  // The following functions are defined in connection_telnet.cc.
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
  const bool checks_hosts_;
  RequestMemory::Share body_memory_;  // charges request bytes in buffer_ and the decompressed body
  /// Charges the first bytes of an incomplete request, which body_memory_ does not charge.
  RequestMemory::Share unfinished_memory_;
  RequestMemory::Share kept_memory_;       // charges the capacity of buffer_ between requests
  RequestMemory::Share unread_memory_;     // charges out_, except for bytes that replies_ charges
  RequestMemory::Share handshake_memory_;  // charges the memory of the TLS handshake
  ReceiveBuffer buffer_;
  Protocol protocol_ = Protocol::kUnknown;
  State state_ = State::kReading;
  bool waiting_readable_ = false;
  bool end_of_input_ = false;
  bool close_after_reply_ = false;
  // Whether the event loop must serve other connections before the next request of this connection.
  // It is set after the connection has finished a request or a batch of lines.
  bool gives_way_ = false;
  /// Whether Loop::ContinueLater was called and Continue was not called yet.
  bool in_backlog_ = false;
  int64_t active_s_ = 0;
  int64_t linger_until_s_ = 0;

  // The authenticated client; null = not authenticated.
  IdentityPtr who_;
  // HTTP: the Authorization field or the request target that contained the credentials of who_.
  std::string credentials_;
  uint64_t who_generation_ = 0;  // value of Access::generation() at the last lookup of who_
  uint64_t judge_generation_ = 0;
  std::shared_ptr<Writer> writer_;  // write limits of the client; null: they were not looked up yet

  // Output that the socket has not taken yet.
  std::string out_;
  size_t out_sent_ = 0;  // number of bytes of out_ that were already sent
  bool write_pending_ = false;
  uint64_t sent_bytes_ = 0;  // number of output bytes that the kernel has taken
  TransferPace reply_pace_{kSlowReplyBytes};

  // The following members are used only for HTTP.
  uint64_t received_bytes_ = 0;
  TransferPace request_pace_{kSlowRequestBytes};
  Part part_ = Part::kHead;
  RequestHead head_;
  /// Method and path of the last request. They are stored here because head_ is cleared at the end
  /// of the request.
  std::string endpoint_;
  size_t head_scanned_ = 0, head_bytes_ = 0;
  ChunkedDecoder chunks_;
  size_t request_bytes_ = 0;  // number of bytes in buffer_ that belong to the current request
  PutReply put_reply_;
  std::shared_ptr<ReplyQueue> replies_;

  // The following members are used only for telnet.
  size_t line_bytes_ = 0;   // number of bytes of the lines that are being handled
  size_t line_points_ = 0;  // number of points for whose commit the connection waits
  int retries_ = 0;         // how many times in a row the store has rejected the lines
  /// The time in seconds at which the connection found that the client has closed its side while
  /// lines of the client wait to be stored. nullopt: the client has not closed its side.
  std::optional<int64_t> gone_since_s_;
  // Whether the client has stopped reading its replies. In this case, further replies are dropped.
  bool deaf_ = false;
  // Whether there was not enough memory for out_. The member stays true until the client has read
  // all replies.
  bool unread_refused_ = false;
  // The timer for retries of telnet lines. TLS handshakes that wait use it, too.
  std::unique_ptr<boost::asio::steady_timer> retry_timer_;
};

}  // namespace hg::http
