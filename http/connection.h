#pragma once
// One client: the first byte decides between HTTP and telnet (spec http-api.md §1). Internal to the
// server; includes Asio. Reads into its own buffer, serves one request at a time, answers in order.

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/access/access.h"
#include "http/body_form.h"
#include "http/receive_buffer.h"
#include "http/reply.h"
#include "http/stream.h"
#include "http/transfer_pace.h"
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

/// Lives as long as an operation on it is under way. Loop thread only, unless said otherwise.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Stream stream, Loop& loop);
  ~Connection();

  void Start();
  /// The points that this connection waits for are durable, or not.
  void Committed(const Status& status);
  /// Every second or so: idle connections, and those that linger.
  void Sweep();
  /// Closes now, whatever is under way.
  void Close();
  void CloseWhenIdle();

 private:
  enum class Protocol : uint8_t { kUnknown, kHttp, kTelnet };
  enum class State : uint8_t {
    kReading,     // waits for bytes
    kCommitting,  // appended; waits for the log
    kHandling,    // a pool thread works on it
    kReplying,    // the rest of a reply is on its way
    kRetrying,    // telnet: the store took nothing
    kUnread,      // telnet: the client is to read first
    kLingering,   // reply sent, reads and drops what comes until the client closes
    kClosed,
  };
  /// Where the reading of an HTTP request stands.
  enum class Part : uint8_t { kHead, kBody };
  /// How a put that went the fast way is answered.
  struct PutReply {
    bool summary = false, details = false;
    size_t points = 0, text_fields = 0;
  };

  // connection.cc: bytes in and out.
  void Advance();
  void WaitReadable();
  void OnReadable();
  bool Receive();
  void Transmit(std::string_view bytes);
  void WaitWritable();
  void OnWritable();
  void OnWritten();
  void Linger();
  [[nodiscard]] uint64_t TakenBytes();
  [[nodiscard]] bool stopping() const;
  void ShutdownSend();

  // connection_http.cc
  bool AdvanceHttp();
  bool OnHead();
  void HeadAdmitted();
  bool OnBody(std::string_view body);
  bool OnPackedBody(std::string_view body, BodyForm form);
  bool TryPut(std::string_view body);
  bool TryInflux(std::string_view body);
  [[nodiscard]] bool MayGoFast() const;
  /// What the sink says of points that were tried; false: their series are not all known.
  bool Appended(const Result<PointSink::Appended>& appended, size_t points,
                std::atomic<uint64_t>* requests);
  void Handle(std::string_view body, BodyForm form = {});
  bool TryOnLoop(Request& request);
  void Pump();
  void RefuseHead(int status, std::string_view message, bool as_page);
  /// The reply that `send` makes, to a request whose body is not waited for; then the connection
  /// ends.
  void RefuseHead(const Request& request,
                  const std::function<void(const Request&, ResponseWriter&)>& send);
  /// As body_memory_ has it.
  void RefuseBody();
  /// The memory of a request that is over.
  void LetGoBody();
  void ReplyInline(const Request& request, const Status& status);
  /// All of a reply; the next request is served once the system has taken it.
  void TransmitReply(std::string_view bytes);
  void PutCommitted(const Status& status);
  void ReplySent();
  /// *escapes_good: whether the query string could be decoded.
  std::unique_ptr<Request> MakeRequest(std::string_view body, bool* escapes_good = nullptr);

  // connection_access.cc: who the client is. Where nobody is asked, all of it is one comparison.
  [[nodiscard]] bool Guarded() const;
  [[nodiscard]] bool May(Role role) const;
  [[nodiscard]] Roles roles() const;
  /// Whether the request whose head has come may go on now. False: it was refused, or it goes on
  /// once its password is judged.
  bool Admit();
  bool AdmitStranger();
  [[nodiscard]] IdentityPtr KnownBy(const Credentials& said) const;
  /// Keeps of *lines what may be run now. False: the first line was about who the client is, or
  /// should have been, and is dealt with.
  bool AdmitLines(std::string_view* lines);
  void AnswerAuth(const IdentityPtr& who);
  /// False: too many wait for it already.
  bool JudgePassword(Credentials said);
  void Judged(const IdentityPtr& who);
  void Adopt(IdentityPtr who, uint64_t generation);
  /// How much the client may write; null = everything.
  const std::shared_ptr<Writer>& writer();

  // connection_telnet.cc
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
  RequestMemory::Share body_memory_;  // for what buffer_ holds of requests, and for unpacked bodies
  ReceiveBuffer buffer_;
  Protocol protocol_ = Protocol::kUnknown;
  State state_ = State::kReading;
  bool waiting_readable_ = false;
  bool end_of_input_ = false;
  bool close_after_reply_ = false;
  bool gives_way_ = false;  // what was answered last took the loop's own time
  int64_t active_s_ = 0;
  int64_t linger_until_s_ = 0;

  // Who the client is; null: a stranger.
  IdentityPtr who_;
  std::string credentials_;      // HTTP: the field, or the target, that proved it
  uint64_t who_generation_ = 0;  // of Access, when it was looked at
  uint64_t judge_generation_ = 0;
  std::shared_ptr<Writer> writer_;  // null: not asked for yet

  // Output: what the socket did not take at once.
  std::string out_;
  size_t out_sent_ = 0;  // of it
  bool write_pending_ = false;
  uint64_t sent_bytes_ = 0;  // that the system took
  TransferPace reply_pace_{kSlowReplyBytes};

  // HTTP.
  uint64_t received_bytes_ = 0;
  TransferPace request_pace_{kSlowRequestBytes};
  Part part_ = Part::kHead;
  RequestHead head_;
  size_t head_scanned_ = 0, head_bytes_ = 0;
  ChunkedDecoder chunks_;
  size_t request_bytes_ = 0;  // of the buffer, given back once answered
  PutReply put_reply_;
  std::shared_ptr<ReplyQueue> replies_;

  // Telnet.
  size_t line_bytes_ = 0;                // of the lines being worked on
  size_t line_points_ = 0;               // of those that a commit is awaited for
  int retries_ = 0;                      // in a row, of a store that took nothing
  std::optional<int64_t> gone_since_s_;  // the client, as was noticed while its lines wait
  bool deaf_ = false;                    // the client does not read: what is said to it is dropped
  std::unique_ptr<boost::asio::steady_timer> retry_timer_;
};

}  // namespace hg::http
