#include "http/request/reply.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hg::http {
namespace {

TEST_CASE("a large body that a handler writes at once is sent in pieces") {
  std::vector<std::string> pieces;
  ReplyHooks hooks;
  hooks.send = [&](std::string piece) {
    pieces.push_back(std::move(piece));
    return true;
  };
  ReplyForm form;
  form.keep_alive = false;  // the body ends with the connection, so it is not chunked
  Reply reply(form, hooks);
  std::string body;
  for (int i = 0; body.size() < 5'000'000; ++i) body += std::to_string(i) + ",";
  CHECK(reply.Write(body));
  CHECK(pieces.size() > 10);
  (void)reply.Finish();
  std::string sent;
  for (const std::string& piece : pieces) {
    CHECK(piece.size() < 300'000);
    sent += piece;
  }
  CHECK(sent.substr(sent.find("\r\n\r\n") + 4) == body);
}

TEST_CASE("a handler learns in the middle of a large body that the client has left") {
  int sent = 0;
  ReplyHooks hooks;
  hooks.send = [&](const std::string&) { return ++sent < 3; };
  Reply reply(ReplyForm(), hooks);
  CHECK_FALSE(reply.Write(std::string(5'000'000, 'x')));
  CHECK(sent == 3);
  CHECK_FALSE(reply.Write("y"));
}

}  // namespace
}  // namespace hg::http
