#pragma once
// Parses messages with the protobuf library.

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace google::protobuf {
class Message;
class MessageLite;
}  // namespace google::protobuf

namespace hg::http {

/// Parses `bytes` and replaces the contents of *message. Returns false if the bytes are invalid or
/// if there is not enough memory; *message then has no meaning. `depth` is the number of messages
/// that enclose this message; they count towards the nesting limit. The memory of the message is
/// charged to `room`, which must exist as long as *message. If `room` is nullptr, the caller has
/// already charged the memory.
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message, int depth = 0,
                  RequestMemory::Room* room = nullptr);

/// Parses a message in protobuf's JSON form. Unknown members are skipped. The memory is charged to
/// `memory` before it is allocated; if charging fails, the function returns the error of `memory`.
/// The message of InvalidArgument describes the error.
Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message,
                        RequestMemory::Share* memory);

std::string JsonOf(const google::protobuf::Message& message);

}  // namespace hg::http
