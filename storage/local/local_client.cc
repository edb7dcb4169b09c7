#include "storage/local/local_client.h"

namespace hg::local {
namespace {

Status Gone(const std::string& folder, const Status& why) {
  if (why.code() != StatusCode::kUnavailable) return why;
  return Status::Unavailable("the daemon that has " + folder +
                             " has ended or no longer answers: " + std::string(why.message()));
}

}  // namespace

Result<LocalClient> LocalClient::Connect(const std::string& folder,
                                         const std::optional<KeyLayout>& layout) {
  ASSIGN_OR_RETURN(Channel channel, local::Connect(folder));
  LocalClient client(folder, std::move(channel));
  RETURN_IF_ERROR(ReadAnswer(client.Ask(Packer().Put(kProtocol, layout).Take())));
  return client;
}

Result<Bytes> LocalClient::Ask(const Bytes& request) {
  if (request.size() > kRequestBytesMax) {
    return Status::InvalidArgument("the request to the daemon has " +
                                   std::to_string(request.size()) + " bytes; the maximum is " +
                                   std::to_string(kRequestBytesMax));
  }
  if (Status sent = channel_.Send(request); !sent.ok()) return Gone(folder_, sent);
  return More();
}

Result<Bytes> LocalClient::More() {
  auto answer = channel_.Receive(kAnswerBytesMax);
  if (!answer.ok()) return Gone(folder_, answer.status());
  return answer;
}

}  // namespace hg::local
