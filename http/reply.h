#pragma once
// One reply on its way out: bytes of an HTTP response, made by a handler on a pool thread (or on
// the loop, for short errors), with Content-Length if it fits a buffer and in chunks otherwise.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "http/response_writer.h"
#include "http/wire/body_coding.h"
#include "http/wire/request_head.h"

namespace hg::http {

/// Bytes between the handler's thread, which waits when the client is slow, and the connection's
/// loop. Thread-safe.
class ReplyQueue {
 public:
  /// `wake` is called, from any thread and without a lock held, when there is something to take.
  explicit ReplyQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Handler's side. Waits while kUnsentBytesMax are waiting; `before_wait` is called then, without
  /// a lock held. False: the connection is gone.
  bool Push(std::string bytes, const std::function<void()>& before_wait = {});
  /// The reply is complete.
  void End(bool keep_alive);

  /// Loop's side: the next piece into *bytes; false if there is none now.
  bool Take(std::string* bytes);
  /// True once End was called and all was taken.
  [[nodiscard]] bool Finished(bool* keep_alive);
  /// The client does not listen any more; a waiting Push returns.
  void Abandon();
  /// The client has closed its end, and may still listen.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kUnsentBytesMax = 1 << 20;

  const std::function<void()> wake_;
  std::atomic<bool> cancelled_{false};

  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<std::string> pieces_;
  size_t bytes_ = 0;
  bool ended_ = false, keep_alive_ = true, gone_ = false;
};

/// What the request says about the form of its reply.
struct ReplyForm {
  bool head_only = false;  // HEAD
  bool keep_alive =
      true;  // false: no Content-Length, the end of the connection ends the body (spec §2.3)
  bool chunks = true;  // HTTP/1.1: a long body may be chunked
  ContentCoding coding = ContentCoding::kNone;

  static ReplyForm Of(const RequestHead& head);
};

/// What a reply needs of its connection. All but `send` may be empty, and are called on any thread.
struct ReplyHooks {
  /// Takes the bytes in order; false = the client is gone.
  std::function<bool(std::string)> send;
  std::function<bool()> cancelled;
  std::function<void()> takes_long;
  std::function<void()> cut;
};

/// One thread at a time, where ResponseWriter does not say otherwise.
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
    if (hooks_.cut) hooks_.cut();
  }

  /// Sends what is left. Returns whether the connection may serve another request.
  bool Finish();

 private:
  static constexpr size_t kWholeBytesMax = 256 * 1024;  // larger bodies are streamed
  // Of a streamed body: less than what the allocator asks the system for each time.
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
  bool started_ = false;
  bool alive_ = true;
};

}  // namespace hg::http
