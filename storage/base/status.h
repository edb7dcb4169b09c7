#pragma once
// The types that functions return for failures: Status (no value) and Result<T> (a value or a
// Status). Functions of this project do not report failures by exceptions. Each StatusCode tells
// callers how to react to the failure. Add a code only if some caller would treat the new code
// differently from all other codes. Callers add context to the message with Prepend.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hg {

enum class StatusCode : unsigned char {
  kOk = 0,
  kNotFound,         // the object that the caller named does not exist
  kInvalidArgument,  // the caller's value is wrong; the message says which value and why
  kConflict,  // the object exists with other content, or the stored value was not the expected one
  kCorruption,        // stored bytes are damaged; the message names file and offset, or the row
  kIoError,           // the operating system failed; the message holds the text of errno
  kBusy,              // a limited resource is in use: try again later (HTTP 503)
  kUnavailable,       // the store is stopping or its log failed: retry elsewhere or after a restart
  kUnsupported,       // this storage engine does not support the operation
  kDeadlineExceeded,  // the caller's time limit has passed
  kLimitExceeded,     // the request needs more bytes or points than a limit allows (HTTP 413)
  kExhausted,         // out of memory for new series and names, or rows with long keys (HTTP 503)
};

/// Returns the name of the code for messages and logs, such as "corruption".
std::string_view StatusCodeName(StatusCode code);

/// Returns the longest prefix of a UTF-8 text that has at most `bytes_max` bytes and whole
/// characters.
inline std::string_view CutText(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<uint8_t>(text[bytes_max]) & 0xC0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

/// Returns the longest prefix of `text` with at most `bytes_max` bytes and whole characters. Adds
/// "…" if `text` was longer.
inline std::string Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  return std::string(CutText(text, bytes_max)) + "…";
}

/// Maximum number of bytes in an error message. Messages quote texts of clients, which may have
/// megabytes. Each layer copies a message, and JSON escapes can make a message six times as long.
inline constexpr size_t kStatusMessageBytesMax = 4096;

/// Returns a message with at most kStatusMessageBytesMax bytes. If `message` is longer, "…"
/// replaces its middle, because the end of a message often says what is wrong with the quoted text.
std::string ShortMessage(std::string_view message);

/// The result of a function: ok, or an error code with a message. Status is immutable, and cheap to
/// copy (one pointer). Threads may copy and read one Status at the same time.
class [[nodiscard]] Status {
 public:
  Status() = default;
  /// Stores ShortMessage(message).
  Status(StatusCode code, std::string message);

  static Status Ok() { return {}; }
  static Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
  static Status InvalidArgument(std::string m) {
    return {StatusCode::kInvalidArgument, std::move(m)};
  }
  static Status Conflict(std::string m) { return {StatusCode::kConflict, std::move(m)}; }
  static Status Corruption(std::string m) { return {StatusCode::kCorruption, std::move(m)}; }
  static Status IoError(std::string m) { return {StatusCode::kIoError, std::move(m)}; }
  static Status Busy(std::string m) { return {StatusCode::kBusy, std::move(m)}; }
  static Status Exhausted(std::string m) { return {StatusCode::kExhausted, std::move(m)}; }
  static Status Unavailable(std::string m) { return {StatusCode::kUnavailable, std::move(m)}; }
  static Status Unsupported(std::string m) { return {StatusCode::kUnsupported, std::move(m)}; }
  static Status DeadlineExceeded(std::string m) {
    return {StatusCode::kDeadlineExceeded, std::move(m)};
  }
  static Status LimitExceeded(std::string m) { return {StatusCode::kLimitExceeded, std::move(m)}; }

  [[nodiscard]] bool ok() const { return rep_ == nullptr; }
  [[nodiscard]] StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  [[nodiscard]] std::string_view message() const {
    return rep_ ? std::string_view(rep_->message) : "";
  }
  /// Returns the code and the message, such as "corruption: data/000012.pts at 4096: checksum
  /// differs". Returns "ok" if there is no failure.
  [[nodiscard]] std::string ToString() const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

/// Returns a Status with the same code and with "context: " before the message. If `status` is ok,
/// returns ok.
Status Prepend(const Status& status, std::string_view context);

/// Either a value of type T, or the Status that says why there is no value. Accessing the value of
/// a failed result is a programming error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<1>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status)
      : state_(std::in_place_index<0>, std::move(status)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const { return state_.index() == 1; }
  [[nodiscard]] Status status() const { return ok() ? Status() : std::get<0>(state_); }
  T& operator*() & { return *std::get_if<1>(&state_); }
  const T& operator*() const& { return *std::get_if<1>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<1>(&state_)); }
  T* operator->() { return std::get_if<1>(&state_); }
  const T* operator->() const { return std::get_if<1>(&state_); }

 private:
  std::variant<Status, T> state_;
};

}  // namespace hg

#define HG_CONCAT_INNER(a, b) a##b
#define HG_CONCAT(a, b) HG_CONCAT_INNER(a, b)

/// If the Status of the expression is not ok, returns it from the enclosing function.
#define RETURN_IF_ERROR(expression)                                                  \
  do {                                                                               \
    if (::hg::Status hg_status_ = (expression); !hg_status_.ok()) return hg_status_; \
  } while (false)

/// ASSIGN_OR_RETURN(auto x, Call()) sets x to the value of the Result that Call() returns. If the
/// Result has failed, the macro returns its Status from the enclosing function.
#define ASSIGN_OR_RETURN(declaration, expression) \
  HG_ASSIGN_OR_RETURN(HG_CONCAT(hg_result_, __LINE__), declaration, expression)
#define HG_ASSIGN_OR_RETURN(result, declaration, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return result.status();                  \
  declaration = std::move(*result)
