#pragma once
// A connection to the daemon that uses a folder (local_server.h). The greeting was already
// exchanged. This file also has the functions that parse responses.

#include <optional>
#include <string>
#include <utility>

#include "storage/local/calls.h"
#include "storage/local/channel.h"
#include "storage/model/key_layout.h"

namespace hg::local {

/// A client of one daemon. Not thread-safe.
class LocalClient {
 public:
  /// Connects to the daemon that uses `folder`, and sends the protocol version and `layout`. A
  /// client without a layout may not access cells. Returns NotFound if no daemon uses the folder.
  /// Returns InvalidArgument if the daemon uses another layout, and Unsupported if the daemon uses
  /// another protocol version. Returns Unavailable if the user of this process may not connect, or
  /// if the daemon has stopped.
  static Result<LocalClient> Connect(const std::string& folder,
                                     const std::optional<KeyLayout>& layout);

  /// Sends a request and returns the response, or the first frame of a response with several
  /// frames. Returns Unavailable if the daemon has stopped; the request may have been executed.
  /// Returns InvalidArgument if the request is too large.
  Result<Bytes> Ask(const Bytes& request);
  /// Receives the next frame of a response with several frames.
  Result<Bytes> More();

 private:
  LocalClient(std::string folder, Channel channel)
      : folder_(std::move(folder)), channel_(std::move(channel)) {}

  std::string folder_;
  Channel channel_;
};

template <typename... T>
Bytes Request(Call call, const T&... arguments) {
  return Packer().Put(call, arguments...).Take();
}

inline Status Garbled() { return Status::Corruption("the daemon's response cannot be read"); }

/// Parses a response, which is a Status and, if the Status is ok, the values.
template <typename... T>
Status ReadAnswer(const Result<Bytes>& answer, T*... values) {
  if (!answer.ok()) return answer.status();
  Unpacker in(*answer);
  Status status;
  if (!in.Get(&status)) return Garbled();
  RETURN_IF_ERROR(status);
  return in.Get(values...) ? status : Garbled();
}

}  // namespace hg::local
