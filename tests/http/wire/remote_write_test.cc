#include "http/wire/remote_write.h"

#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "http/wire/request_memory.h"

namespace hg::http {
namespace {

/// The names of the first labels of the visited series.
struct Visited {
  Status status;
  std::vector<std::string> names;
};

Visited Read(std::string_view bytes, RequestMemory::Share* memory = nullptr) {
  Visited visited;
  visited.status = ReadWriteRequest(
      bytes,
      [&](const WrittenSeries& series) {
        visited.names.emplace_back(series.labels.empty() ? "" : series.labels[0].name);
      },
      memory);
  return visited;
}

/// Returns all series as text.
std::string Shown(std::string_view bytes) {
  std::string text;
  const Status read = ReadWriteRequest(
      bytes,
      [&](const WrittenSeries& series) {
        for (const Label& label : series.labels)
          text.append(label.name).append("=").append(label.value).append(",");
        for (const WrittenSeries::Sample& sample : series.samples)
          text += std::to_string(std::bit_cast<uint64_t>(sample.value)) + "@" +
                  std::to_string(sample.time_ms) + ",";
        text += std::to_string(series.histograms) + "\n";
      },
      nullptr);
  return read.ok() ? text : "none";
}

/// The same, parsed by protobuf alone.
std::string ShownByProtobuf(const std::string& bytes) {
  std::string text;
  prometheus::WriteRequest message;
  if (!message.ParseFromString(bytes)) return "none";
  for (const prometheus::TimeSeries& series : message.timeseries()) {
    for (const prometheus::Label& label : series.labels())
      text += label.name() + "=" + label.value() + ",";
    for (const prometheus::Sample& sample : series.samples())
      text += std::to_string(std::bit_cast<uint64_t>(sample.value())) + "@" +
              std::to_string(sample.timestamp()) + ",";
    text += std::to_string(series.histograms_size()) + "\n";
  }
  return text;
}

std::string Request(const std::vector<std::string>& names) {
  prometheus::WriteRequest message;
  for (const std::string& name : names) message.add_timeseries()->add_labels()->set_name(name);
  return message.SerializeAsString();
}

}  // namespace

TEST_CASE("series are visited in order, without remains of the previous series") {
  prometheus::WriteRequest message;
  message.add_timeseries()->add_labels()->set_name("a");
  message.add_timeseries();
  message.add_timeseries()->add_labels()->set_name("b");
  const Visited visited = Read(message.SerializeAsString());
  CHECK(visited.status.ok());
  CHECK(visited.names == std::vector<std::string>{"a", "", "b"});
  CHECK(Read("").status.ok());
}

TEST_CASE("unknown fields are skipped") {
  // Field 3 is metadata, a message; field 15 is a number. Both are ignored.
  const std::string metadata("\x1a\x03\x08\x01\x12", 5), number("\x78\x05", 2);
  const Visited visited = Read(metadata + Request({"a"}) + number + Request({"b"}) + metadata);
  CHECK(visited.status.ok());
  CHECK(visited.names == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a truncated request is refused, wherever it is cut") {
  const std::string first = Request({"a"}), whole = Request({"a", "bcd"});
  for (size_t size = 1; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(Read(whole.substr(0, size)).status.ok() == (size == first.size()));
  }
}

TEST_CASE("invalid requests are refused") {
  CHECK_FALSE(Read("not a message").status.ok());
  CHECK_FALSE(Read(Request({"\xFF"})).status.ok());                           // not UTF-8
  CHECK_FALSE(Read(std::string("\x0a\x80\x80\x80\x80\x08", 6)).status.ok());  // 2 GiB long
  CHECK_FALSE(Read(std::string("\0", 1)).status.ok());
  const Status large = Read(Request({std::string(kWriteSeriesBytesMax, 'x')})).status;
  CHECK(large.message().find("is longer than 4194304") != std::string::npos);
}

TEST_CASE("truncated or damaged series give the same result as protobuf, for every byte") {
  prometheus::WriteRequest message;
  prometheus::TimeSeries* const series = message.add_timeseries();
  for (const auto& [name, value] : {std::pair("__name__", "up"), {"job", "é"}, {"empty", ""}}) {
    prometheus::Label* const label = series->add_labels();
    label->set_name(name);
    label->set_value(value);
  }
  for (const int64_t time : {int64_t{1700000000123}, int64_t{0}, int64_t{-5}}) {
    prometheus::Sample* const sample = series->add_samples();
    sample->set_value(static_cast<double>(time) / 3);
    sample->set_timestamp(time);
  }
  series->add_histograms("x");
  *message.add_timeseries() = *series;
  std::string body = message.SerializeAsString();
  // A label with a repeated name, an unknown number and an unknown group.
  body += std::string("\x0a\x0f\x0a\x0d\x0a\x01x\x0a\x01y\x18\x05\x12\x01z\x23\x24", 17);
  CHECK(Shown(body) == ShownByProtobuf(body));
  CHECK(Shown(body).ends_with("y=z,0\n"));
  for (size_t at = 0; at < body.size(); ++at) {
    const auto check = [at](const std::string& changed) {
      if (Shown(changed) != ShownByProtobuf(changed)) FAIL_CHECK(at);
    };
    check(body.substr(0, at));
    check(body.substr(0, at) + body.substr(at + 1));
    for (const int change : {1, 2, 8, 0x80, 0xFF}) {
      std::string damaged = body;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      check(damaged);
    }
  }
}

TEST_CASE("a series with only empty labels is charged before it is parsed") {
  std::string series;
  for (int i = 0; i < 1'000'000; ++i) series += std::string("\x0a\x00", 2);
  std::string request = "\x0a";
  for (size_t size = series.size(); size > 0; size >>= 7)
    request += static_cast<char>(size > 127 ? size % 128 + 128 : size);
  request += series;
  RequestMemory memory(uint64_t{32} << 20);
  RequestMemory::Share share(memory, 0);
  CHECK(Read(request, &share).status.code() == StatusCode::kLimitExceeded);
  CHECK(share.held() == 0);
}

}  // namespace hg::http
