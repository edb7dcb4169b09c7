#include "http/wire/remote_write.h"

#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <vector>

namespace hg::http {
namespace {

/// Names of the first labels of the series that were visited.
struct Visited {
  Status status;
  std::vector<std::string> names;
};

Visited Read(std::string_view bytes) {
  Visited visited;
  visited.status = ReadWriteRequest(bytes, [&](const prometheus::TimeSeries& series) {
    visited.names.push_back(series.labels_size() > 0 ? series.labels(0).name() : "");
  });
  return visited;
}

std::string Request(const std::vector<std::string>& names) {
  prometheus::WriteRequest message;
  for (const std::string& name : names) message.add_timeseries()->add_labels()->set_name(name);
  return message.SerializeAsString();
}

}  // namespace

TEST_CASE("series are visited in order, each without what the last one had") {
  prometheus::WriteRequest message;
  message.add_timeseries()->add_labels()->set_name("a");
  message.add_timeseries();
  message.add_timeseries()->add_labels()->set_name("b");
  const Visited visited = Read(message.SerializeAsString());
  CHECK(visited.status.ok());
  CHECK(visited.names == std::vector<std::string>{"a", "", "b"});
  CHECK(Read("").status.ok());
}

TEST_CASE("fields that are not known are skipped") {
  // Field 3, metadata, is a message; 15 is a number; both are none of ours.
  const std::string metadata("\x1a\x03\x08\x01\x12", 5), number("\x78\x05", 2);
  const Visited visited = Read(metadata + Request({"a"}) + number + Request({"b"}) + metadata);
  CHECK(visited.status.ok());
  CHECK(visited.names == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a request that is cut short is refused wherever that is") {
  const std::string first = Request({"a"}), whole = Request({"a", "bcd"});
  for (size_t size = 1; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(Read(whole.substr(0, size)).status.ok() == (size == first.size()));
  }
}

TEST_CASE("what is no request is refused") {
  CHECK_FALSE(Read("not a message").status.ok());
  CHECK_FALSE(Read(Request({"\xFF"})).status.ok());                           // not UTF-8
  CHECK_FALSE(Read(std::string("\x0a\x80\x80\x80\x80\x08", 6)).status.ok());  // 2 GiB long
  CHECK_FALSE(Read(std::string("\0", 1)).status.ok());
  const Status large = Read(Request({std::string(kWriteSeriesBytesMax, 'x')})).status;
  CHECK(large.message().find("is longer than 4194304") != std::string::npos);
}

}  // namespace hg::http
