#include "http/request/reply.h"

#include <charconv>
#include <utility>

#include "http/wire/reason_phrase.h"

namespace hg::http {
namespace {

/// Returns true if the handler has compressed the body itself.
bool IsPacked(std::string_view headers) {
  return headers.find("Content-Encoding:") != std::string_view::npos;
}

/// The policy of pages that do not set one, such as error pages. The policy forbids these pages to
/// load and run anything.
constexpr std::string_view kPagePolicy =
    "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n";

/// OpenTSDB never sends Vary (opentsdb-http-api.md §5), so only responses with Cache-Control
/// have it.
constexpr std::string_view kVary = "Vary: Accept-Encoding, Origin\r\n";

bool IsPage(std::string_view content_type) { return content_type.starts_with("text/html"); }

}  // namespace

template <typename Done>
bool ReplyQueue::WaitForClient(std::unique_lock<std::mutex>& lock, const BeforeWait& before_wait,
                               Done done) {
  if (gone_ || done()) return !gone_;
  lock.unlock();
  const bool patient = before_wait && before_wait();
  lock.lock();
  while (!gone_ && !done()) {
    if (patient) {
      room_.wait(lock);
      continue;
    }
    const size_t unsent = bytes_;
    room_.wait_for(lock, kPatience, [&] { return gone_ || bytes_ < unsent; });
    if (gone_ || bytes_ < unsent || done()) continue;
    Cancel();
    gone_ = true;
  }
  return !gone_;
}

bool ReplyQueue::Push(std::string bytes, const BeforeWait& before_wait) {
  {
    std::unique_lock lock(mutex_);
    const auto may_go_on = [&] {
      const bool charged = memory_.Cover(bytes_ + bytes.size());
      return bytes_ == 0 || (charged && bytes_ < kUnsentBytesMax);
    };
    if (!WaitForClient(lock, before_wait, may_go_on)) return false;
    bytes_ += bytes.size();
    pieces_.push_back(std::move(bytes));
  }
  wake_();
  return true;
}

bool ReplyQueue::End(bool keep_alive, const BeforeWait& before_wait) {
  bool read = true;
  {
    std::unique_lock lock(mutex_);
    ended_ = true;
    keep_alive_ = keep_alive;
    read = WaitForClient(lock, before_wait, [this] { return memory_.Cover(bytes_); });
  }
  wake_();
  return read;
}

bool ReplyQueue::Take(std::string* bytes) {
  bool more = false;
  {
    std::lock_guard lock(mutex_);
    bytes_ -= std::exchange(sending_, 0);
    if (bytes_ == 0) memory_.GiveAll();
    more = !pieces_.empty();
    if (more) {
      *bytes = std::move(pieces_.front());
      pieces_.pop_front();
      sending_ = bytes->size();
    }
  }
  room_.notify_one();
  return more;
}

bool ReplyQueue::Finished(bool* keep_alive) {
  std::lock_guard lock(mutex_);
  *keep_alive = keep_alive_;
  return ended_ && pieces_.empty();
}

bool ReplyQueue::Abandoned() {
  std::lock_guard lock(mutex_);
  return gone_;
}

void ReplyQueue::Abandon() {
  Cancel();
  {
    std::lock_guard lock(mutex_);
    gone_ = true;
  }
  room_.notify_all();
}

ReplyForm ReplyForm::Of(const RequestHead& head) {
  ReplyForm form;
  form.head_only = head.method == "HEAD";
  form.keep_alive = head.keep_alive;
  form.chunks = head.http11;
  form.coding = head.accepted;
  return form;
}

Reply::Reply(ReplyForm form, ReplyHooks hooks) : form_(form), hooks_(std::move(hooks)) {}

void Reply::AddHeader(std::string_view name, std::string_view value) {
  headers_.append(name).append(": ");
  // A value may come from a request, so control characters, which could end the header line, become
  // blanks.
  for (char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    headers_.push_back(byte < 0x20 || byte == 0x7F ? ' ' : c);
  }
  headers_.append("\r\n");
}

bool Reply::Write(std::string_view bytes) {
  // A large text is sent in pieces, each after the client has taken the one before. So the handler
  // ends, and gives back the memory that was charged to the request, only when the client has read
  // most of the text.
  while (alive_ && !bytes.empty()) {
    const size_t most = started_ ? kPieceBytes : kWholeBytesMax;
    const std::string_view piece = bytes.substr(0, most + 1 - body_.size());
    body_.append(piece);
    bytes.remove_prefix(piece.size());
    if (body_.size() > most) SendPiece(false);
  }
  return alive_;
}

void Reply::Reset() {
  if (started_) return;
  body_.clear();
  // An error that replaces the body must not be cached like the body.
  for (const std::string_view name : {"Age: ", "Cache-Control: "}) {
    const size_t at = headers_.starts_with(name) ? 0 : headers_.find("\r\n" + std::string(name));
    if (at == std::string::npos) continue;
    const size_t begin = at == 0 ? 0 : at + 2;
    headers_.erase(begin, headers_.find("\r\n", begin) + 2 - begin);
  }
}

std::string Reply::Head(bool streamed, size_t length) const {
  const bool bodyless = status_ == 204 || status_ == 304;
  std::string head = "HTTP/1.1 ";
  head.append(std::to_string(status_)).append(" ").append(ReasonPhrase(status_)).append("\r\n");
  head.append(headers_);
  if (!content_type_.empty()) head.append("Content-Type: ").append(content_type_).append("\r\n");
  head.append(kNoSniff);
  if (IsPage(content_type_) && headers_.find("Content-Security-Policy:") == std::string::npos)
    head.append(kPagePolicy);
  if (headers_.find("Cache-Control:") != std::string::npos) head.append(kVary);
  if (packer_ != nullptr) {
    head.append("Content-Encoding: ");
    head.append(form_.coding == ContentCoding::kGzip ? "gzip" : "deflate").append("\r\n");
  }
  if (streamed) {
    if (form_.chunks) head.append("Transfer-Encoding: chunked\r\n");
  } else if (form_.keep_alive) {
    head.append("Content-Length: ").append(std::to_string(bodyless ? 0 : length)).append("\r\n");
  }
  head.append("\r\n");
  return head;
}

void Reply::SendPiece(bool last) {
  std::string bytes;
  if (!started_ && form_.coding != ContentCoding::kNone && !IsPacked(headers_)) {
    packer_ = std::make_unique<BodyPacker>(form_.coding);
  }
  if (!started_) bytes = Head(true, 0);
  started_ = true;
  if (packer_ != nullptr) {
    std::string packed;
    packer_->Pack(body_, last, &packed);
    body_ = std::move(packed);
  }
  if (!form_.head_only) {
    if (form_.chunks && !body_.empty()) {
      char size[16];
      const auto end = std::to_chars(size, size + sizeof size, body_.size(), 16).ptr;
      bytes.append(size, end).append("\r\n");
    }
    bytes.append(body_);
    if (form_.chunks && !body_.empty()) bytes.append("\r\n");
    if (form_.chunks && last) bytes.append("0\r\n\r\n");
  }
  body_.clear();
  if (!bytes.empty() && !hooks_.send(std::move(bytes))) alive_ = false;
}

bool Reply::Finish() {
  if (!alive_) return false;
  if (started_) {
    SendPiece(true);
    return alive_ && form_.keep_alive && form_.chunks;
  }
  if (!body_.empty() && form_.coding != ContentCoding::kNone && !IsPacked(headers_)) {
    packer_ = std::make_unique<BodyPacker>(form_.coding);
    std::string packed;
    packer_->Pack(body_, true, &packed);
    body_ = std::move(packed);
  }
  std::string bytes = Head(false, body_.size());
  if (!form_.head_only && status_ != 204 && status_ != 304) bytes.append(body_);
  started_ = true;
  if (!hooks_.send(std::move(bytes))) alive_ = false;
  return alive_ && form_.keep_alive;
}

}  // namespace hg::http
