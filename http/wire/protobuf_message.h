#pragma once
// Parses protobuf messages.

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace google::protobuf {
class Message;
class MessageLite;
}  // namespace google::protobuf

namespace hg::http {

/// Replaces the contents of *message. Returns false if the bytes are invalid or there is too little
/// memory; *message then has no meaning. `depth` is the number of enclosing messages, which count
/// towards the nesting limit. The memory of the message is charged to `room`, which must exist as
/// long as *message. If `room` is nullptr, the memory is already charged.
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message, int depth = 0,
                  RequestMemory::Room* room = nullptr);

/// Like ParseMessage, for protobuf's JSON form. Skips unknown members. The message of
/// InvalidArgument describes the error. Charges the memory to `memory` first; if that fails,
/// returns the error of `memory`.
Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message,
                        RequestMemory::Share* memory);

std::string JsonOf(const google::protobuf::Message& message);

}  // namespace hg::http
