#include "storage/base/status.h"

namespace hg {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kConflict:
      return "conflict";
    case StatusCode::kCorruption:
      return "corruption";
    case StatusCode::kIoError:
      return "I/O error";
    case StatusCode::kExhausted:
      return "exhausted";
    case StatusCode::kBusy:
      return "busy";
    case StatusCode::kUnavailable:
      return "unavailable";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kDeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::kLimitExceeded:
      return "limit exceeded";
  }
  return "unknown";
}

std::string ShortMessage(std::string_view message) {
  if (message.size() <= kStatusMessageBytesMax) return std::string(message);
  constexpr size_t kEndBytes = 1000;
  size_t end = message.size() - kEndBytes;
  while (end < message.size() && (static_cast<uint8_t>(message[end]) & 0xC0) == 0x80) ++end;
  return Shortened(message, kStatusMessageBytesMax - kEndBytes - 3).append(message.substr(end));
}

Status::Status(StatusCode code, std::string message) {
  if (code == StatusCode::kOk) return;
  if (message.size() > kStatusMessageBytesMax) message = ShortMessage(message);
  rep_ = std::make_shared<const Rep>(Rep{code, std::move(message)});
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return std::string(StatusCodeName(code())) + ": " + rep_->message;
}

Status Prepend(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  return {status.code(), std::string(context) + ": " + std::string(status.message())};
}

}  // namespace hg
