#pragma once
// Creates the bytes of one HTTP response. A handler writes the response on a pool thread, or on the
// event loop if the response is short. A response that fits into the buffer has a Content-Length; a
// longer response is sent in chunks. ReplyForm describes the exceptions for connections that close
// after the response and for HTTP/1.0.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "http/request/response_writer.h"
#include "http/wire/body_coding.h"
#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"

namespace hg::http {

/// A bounded queue of the bytes of one reply. The thread of the handler adds bytes, and the event
/// loop of the connection takes them and sends them. If the client is slow, the thread of the
/// handler waits. The bytes that the client has not taken are charged to a memory budget, which all
/// connections share. The queue is thread-safe.
class ReplyQueue {
 public:
  /// The queue calls `wake` when it has bytes to take. It may call `wake` on any thread. During the
  /// call, the queue holds no lock. `unsent` is the memory budget, and must outlive the queue.
  ReplyQueue(std::function<void()> wake, RequestMemory& unsent)
      : wake_(std::move(wake)), memory_(unsent, kFreeUnsentBytes) {}

  /// A function that Push and End call before they wait for the client. They hold no lock during
  /// the call. The function returns whether the handler may wait as long as the client needs. If it
  /// returns false, the client must take some bytes within each period of kPatience.
  using BeforeWait = std::function<bool()>;

  /// Adds bytes to the queue. Waits while kUnsentBytesMax bytes or more are unsent, or while bytes
  /// are unsent and the memory budget refuses memory for more. Returns false if the connection is
  /// closed or must be closed because the client took too long. The handler calls this function.
  bool Push(std::string bytes, const BeforeWait& before_wait);
  /// Marks the reply as complete. `keep_alive`: whether the connection may serve another request.
  /// Waits as Push does while the memory budget refuses memory for the unsent bytes. Returns false
  /// if the connection is closed or must be closed because the client took too long.
  bool End(bool keep_alive, const BeforeWait& before_wait);

  /// Moves the next bytes of the queue into *bytes. Returns false if the queue is empty. The event
  /// loop calls Take again only after it has sent the bytes of the previous call. These bytes count
  /// as unsent until it calls Take again.
  bool Take(std::string* bytes);
  /// Returns true if End was called and all bytes were taken from the queue. In this case, sets
  /// *keep_alive to the argument of End.
  [[nodiscard]] bool Finished(bool* keep_alive);
  /// Tells the queue that the connection is closed, or must be closed because the reply is cut. A
  /// Push that waits, and each later Push, then returns false.
  void Abandon();
  /// Returns whether the reply is incomplete: Abandon was called, or the client took too long.
  [[nodiscard]] bool Abandoned();
  /// Tells the queue that the client has closed its sending side. The client may still read the
  /// reply.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kUnsentBytesMax = 1 << 20;
  /// The number of unsent bytes that are not charged to the memory budget. The sockets of most
  /// clients take more bytes at once, so most replies charge nothing.
  static constexpr uint64_t kFreeUnsentBytes = 16 * 1024;
  /// The time in which a client must take some bytes if its handler occupies a thread that other
  /// requests need.
  static constexpr auto kPatience = std::chrono::milliseconds(100);

  /// Waits until `done` returns true, the connection is closed, or the client has taken too long.
  /// Returns true only in the first case. `lock` must hold mutex_; the function unlocks it while it
  /// waits.
  template <typename Done>
  bool WaitForClient(std::unique_lock<std::mutex>& lock, const BeforeWait& before_wait, Done done);

  const std::function<void()> wake_;
  std::atomic<bool> cancelled_{false};

  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<std::string> pieces_;
  size_t bytes_ = 0;             // unsent bytes: the bytes of pieces_ and `sending_`
  size_t sending_ = 0;           // number of bytes that the last Take returned
  RequestMemory::Share memory_;  // charges bytes_
  bool ended_ = false, keep_alive_ = true, gone_ = false;
};

/// A header of every response. It tells browsers to use the Content-Type and not to guess a type
/// from the body.
inline constexpr std::string_view kNoSniff = "X-Content-Type-Options: nosniff\r\n";

/// The form of a reply. It depends on the method and the HTTP version of the request, and on
/// whether the connection stays open after the reply.
struct ReplyForm {
  bool head_only = false;  // whether the request is HEAD, so that the reply has no body
  /// Whether the connection stays open after the reply. If false, the reply has no Content-Length,
  /// and a body that is not sent in chunks ends with the connection (opentsdb-http-api.md §2.3).
  bool keep_alive = true;
  /// Whether a long body is sent in chunks (HTTP/1.1). If false, a long body ends with the
  /// connection.
  bool chunks = true;
  ContentCoding coding = ContentCoding::kNone;

  static ReplyForm Of(const RequestHead& head);
};

/// Functions that a reply calls to use its connection. All of them except `send` may be empty. Any
/// thread may call them.
struct ReplyHooks {
  /// Sends the bytes after the bytes of all earlier calls. Returns false if the client has
  /// disconnected.
  std::function<bool(std::string)> send;
  // Reply::Cancelled, Reply::TakesLong and Reply::Cut call the following functions.
  std::function<bool()> cancelled;
  std::function<void()> takes_long;
  std::function<void()> cut;
};

/// A response. Reply adds kNoSniff to each response. If an HTML page has no
/// Content-Security-Policy, Reply adds a policy that forbids the page to load or run anything. If a
/// response has Cache-Control, Reply adds Vary, which names the request headers on which any
/// response may depend. Only one thread at a time may use a reply, except for functions that
/// ResponseWriter allows on any thread.
class Reply : public ResponseWriter {
 public:
  Reply(ReplyForm form, ReplyHooks hooks);

  void SetStatus(int status) override { status_ = status; }
  void SetContentType(std::string_view type) override { content_type_ = type; }
  void AddHeader(std::string_view name, std::string_view value) override;
  bool Write(std::string_view bytes) override;
  [[nodiscard]] bool Started() const override { return started_; }
  void Reset() override;
  [[nodiscard]] bool Cancelled() const override {
    return !alive_ || (hooks_.cancelled && hooks_.cancelled());
  }
  void TakesLong() override {
    if (hooks_.takes_long) hooks_.takes_long();
  }
  void Cut() override {
    alive_ = false;
    if (hooks_.cut) hooks_.cut();
  }

  /// Sends the rest of the reply, unless Cut was called. Returns whether the connection may serve
  /// another request.
  bool Finish();

 private:
  /// Maximum size in bytes of a body that is sent in one piece.
  static constexpr size_t kWholeBytesMax = 256 * 1024;
  // The size in bytes of the pieces of a streamed body. The size is small enough that malloc does
  // not request memory from the kernel for each allocation.
  static constexpr size_t kPieceBytes = 128 * 1024;

  [[nodiscard]] std::string Head(bool streamed, size_t length) const;
  void SendPiece(bool last);

  const ReplyForm form_;
  const ReplyHooks hooks_;

  int status_ = 200;
  std::string content_type_ = "application/json; charset=UTF-8";
  std::string headers_;
  std::string body_;
  std::unique_ptr<BodyPacker> packer_;
  std::atomic<bool> started_{false};
  std::atomic<bool> alive_{true};  // false: the reply was cut, or the client has disconnected
};

}  // namespace hg::http
