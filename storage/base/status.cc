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

Status::Status(StatusCode code, std::string message) {
  if (code == StatusCode::kOk) return;
  if (message.size() > kStatusMessageBytesMax) message = Shortened(message, kStatusMessageBytesMax);
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
