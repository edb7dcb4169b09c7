#pragma once
// Messages off the wire of protobuf.

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace google::protobuf {
class Message;
class MessageLite;
}  // namespace google::protobuf

namespace hg::http {

/// Replaces what *message holds. False: the bytes are no such message, or its memory was refused;
/// *message is meaningless then. `depth`: how many messages it stands in, which count for how deep
/// it may be. `room`: the message's, to live as long; nullptr: its memory has been asked for.
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message, int depth = 0,
                  RequestMemory::Room* room = nullptr);

/// The same of protobuf's JSON form; members that are not known are skipped. InvalidArgument says
/// what is wrong.
/// What it makes is asked for first (request_memory.h): then as the share refuses it.
Status ParseJsonMessage(std::string_view text, google::protobuf::Message* message);

std::string JsonOf(const google::protobuf::Message& message);

}  // namespace hg::http
