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

/// Replaces the contents of *message. False: the bytes are invalid or the memory was refused;
/// *message is then meaningless. `depth`: how many messages enclose this one, which counts for the
/// nesting limit. `room`: takes the memory of the message and must live as long; nullptr: the
/// memory is already charged.
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message, int depth = 0,
                  RequestMemory::Room* room = nullptr);

/// As ParseMessage, for protobuf's JSON form; unknown members are skipped. InvalidArgument says
/// what is wrong. The memory is first taken from `memory`; if it refuses, the result is its
/// refusal.
Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message,
                        RequestMemory::Share* memory);

std::string JsonOf(const google::protobuf::Message& message);

}  // namespace hg::http
