#pragma once
// A greeted connection to the daemon that has a folder (local_server.h), and how its answers are
// read.

#include <optional>
#include <string>
#include <utility>

#include "storage/local/calls.h"
#include "storage/local/channel.h"
#include "storage/model/key_layout.h"

namespace hg::local {

/// One thread at a time.
class LocalClient {
 public:
  /// Without a layout it may not ask for cells. NotFound: no daemon serves in this folder.
  /// InvalidArgument: it has another layout. Unsupported: it is of another version. Unavailable: it
  /// may not be asked, or is gone.
  static Result<LocalClient> Connect(const std::string& folder,
                                     const std::optional<KeyLayout>& layout);

  /// The answer to a request, or its first frame. Unavailable: the daemon is gone; what was asked
  /// for may have been done. InvalidArgument: the request is too large.
  Result<Bytes> Ask(const Bytes& request);
  /// The next frame of an answer that has several.
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

inline Status Garbled() { return Status::Corruption("the daemon's answer cannot be read"); }

/// An answer that is a Status and, if that is ok, these values.
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
