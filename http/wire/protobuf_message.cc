#include "http/wire/protobuf_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include <climits>

#include "storage/model/utf8.h"

namespace hg::http {
namespace {

/// Suppresses protobuf's log to stderr; the client gets the error instead.
void KeepQuiet() {
  [[maybe_unused]] static auto* const before = google::protobuf::SetLogHandler(nullptr);
}

/// Memory per byte of a message. Two bytes (a tag and the length 0) can encode a message, which
/// takes ninety bytes of memory.
constexpr uint64_t kBytesPerByte = 48;

/// Returns the maximum memory of the messages that a JSON text can contain. It counts an object per
/// message, a list entry per element and member, and the texts.
uint64_t BytesOfJson(std::string_view text) {
  constexpr uint64_t kMessageBytes = 112, kElementBytes = 32;
  uint64_t messages = 0, elements = 0;
  for (const char c : text) {
    messages += c == '{';
    elements += c == ',' || c == '[';
  }
  return messages * kMessageBytes + elements * kElementBytes + 2 * text.size();
}

}  // namespace

bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message, int depth,
                  RequestMemory::Room* room) {
  KeepQuiet();
  if (bytes.size() > INT_MAX) return false;
  if (room != nullptr && !room->Grow(kBytesPerByte * bytes.size()).ok()) return false;
  const auto size = static_cast<int>(bytes.size());
  if (depth == 0) return message->ParseFromArray(bytes.data(), size);
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()), size);
  in.SetRecursionLimit(google::protobuf::io::CodedInputStream::GetDefaultRecursionLimit() - depth);
  return message->ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
}

Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message,
                        RequestMemory::Share* memory) {
  KeepQuiet();
  if (memory != nullptr && !memory->Take(BytesOfJson(text))) return memory->refusal();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, message, options);
  if (parsed.ok()) return {};
  std::string why(parsed.message().data(), parsed.message().size());
  ReplaceInvalidUtf8(&why);
  return Status::InvalidArgument(std::move(why));
}

std::string JsonOf(const google::protobuf::Message& message) {
  std::string text;
  (void)google::protobuf::util::MessageToJsonString(message, &text);
  return text;
}

}  // namespace hg::http
