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

/// Replaces the contents of *message. Returns false if the bytes are invalid or the memory was
/// refused; *message is then meaningless. `depth`: the number of enclosing messages, which counts
/// towards the nesting limit. `room`: the memory of the message is charged to it, so it must live
/// as long as *message. nullptr: the memory is already charged.
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message, int depth = 0,
                  RequestMemory::Room* room = nullptr);

/// Like ParseMessage, for protobuf's JSON form; unknown members are skipped. The message of
/// InvalidArgument says what is wrong. The memory is first charged to `memory`; if that fails,
/// returns its error.
Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message,
                        RequestMemory::Share* memory);

std::string JsonOf(const google::protobuf::Message& message);

}  // namespace hg::http
