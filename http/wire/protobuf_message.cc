#include "http/wire/protobuf_message.h"

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include <climits>

#include "storage/model/utf8.h"

namespace hg::http {
namespace {

/// What is wrong with a client's bytes is said to the client, not to stderr.
void KeepQuiet() {
  [[maybe_unused]] static auto* const before = google::protobuf::SetLogHandler(nullptr);
}

}  // namespace

bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message) {
  KeepQuiet();
  return bytes.size() <= INT_MAX &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message) {
  KeepQuiet();
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
