#include "http/wire/remote_read.h"

#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <bit>

#include "http/wire/chunked_read.h"
#include "http/wire/protobuf_message.h"
#include "http/wire/snappy_block.h"
#include "query/promql/parser.h"
#include "storage/base/crc32c.h"
#include "storage/base/varint.h"
#include "tests/http/post_with.h"
#include "tests/http/wire/xor_decoder.h"

namespace hg::http {
namespace {

const Headers kHeaders = {{"content-type", "application/x-protobuf"},
                          {"content-encoding", "snappy"},
                          {"x-prometheus-remote-read-version", "0.1.0"}};
constexpr int64_t kTime = 1700000000123;

/// Returns the messages of a streamed response, whose checksums must be right.
std::vector<prometheus::ChunkedReadResponse> FramesOf(std::string_view body) {
  std::vector<prometheus::ChunkedReadResponse> out;
  while (!body.empty()) {
    uint64_t size = 0;
    REQUIRE(GetVarint64(&body, &size));
    REQUIRE(body.size() >= size + 4);
    uint32_t checksum = 0;
    for (int i = 0; i < 4; ++i) checksum = checksum << 8 | static_cast<uint8_t>(body[i]);
    body.remove_prefix(4);
    CHECK(checksum == crc32c::Value(body.substr(0, size)));
    REQUIRE(ParseMessage(body.substr(0, size), &out.emplace_back()));
    body.remove_prefix(size);
  }
  return out;
}

class RemoteRead : public EdgeFixture {
 public:
  prometheus::ReadRequest message;

  void Write(const std::string& metric, const std::string& job, double value, int64_t time_ms) {
    WriteSeries({{"__name__", metric}, {"job", job}}, value, time_ms);
  }
  void WriteSeries(const std::vector<std::pair<std::string, std::string>>& labels, double value,
                   int64_t time_ms) {
    prometheus::WriteRequest request;
    prometheus::TimeSeries* series = request.add_timeseries();
    for (const auto& [name, text] : labels) {
      prometheus::Label* label = series->add_labels();
      label->set_name(name);
      label->set_value(text);
    }
    series->add_samples()->set_value(value);
    series->mutable_samples(0)->set_timestamp(time_ms);
    REQUIRE(PostWith(*this, kHeaders, "/api/v1/write", PackSnappy(request.SerializeAsString()))
                .status == 204);
  }

  void Ask(const std::string& metric, int64_t start_ms = 0, int64_t end_ms = kTime * 2) {
    prometheus::Query* query = message.add_queries();
    query->set_start_timestamp_ms(start_ms);
    query->set_end_timestamp_ms(end_ms);
    AddMatcher(query, prometheus::LabelMatcher::EQUAL, "__name__", metric);
  }
  static void AddMatcher(prometheus::Query* query, prometheus::LabelMatcher::Type type,
                         const std::string& name, const std::string& value) {
    prometheus::LabelMatcher* matcher = query->add_matchers();
    matcher->set_type(type);
    matcher->set_name(name);
    matcher->set_value(value);
  }

  BufferResponse Send() {
    return PostWith(*this, kHeaders, "/api/v1/read", PackSnappy(message.SerializeAsString()));
  }

  /// One result per line: "name=value,…: time=value …; …".
  std::string Read() {
    const BufferResponse reply = Send();
    if (reply.status != 200) return std::to_string(reply.status) + " " + reply.body;
    CHECK(reply.content_type == "application/x-protobuf");
    REQUIRE(reply.Header("Content-Encoding") != nullptr);
    CHECK(*reply.Header("Content-Encoding") == "snappy");
    std::string bytes;
    REQUIRE(UnpackSnappy(reply.body, 1 << 30, &bytes, nullptr).ok());
    prometheus::ReadResponse response;
    REQUIRE(ParseMessage(bytes, &response));
    std::string text;
    for (const prometheus::QueryResult& result : response.results()) {
      for (const prometheus::TimeSeries& series : result.timeseries()) {
        for (const prometheus::Label& label : series.labels())
          text += label.name() + "=" + label.value() + ",";
        for (const prometheus::Sample& sample : series.samples()) {
          text += " " + std::to_string(sample.timestamp() - kTime) + "=" +
                  std::to_string(sample.value());
        }
        text += "; ";
      }
      text += "\n";
    }
    return text;
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    RemoteRead, "remote read returns written samples series by series, with one result per query") {
  Write("up", "a", 1, kTime);
  Write("up", "a", 0.1, kTime + 1000);
  Write("up", "b:9", 3, kTime);
  Write("up", "b:9", -0.0, kTime + 1);
  Write("down", "a", 7, kTime);
  Ask("up");
  Ask("nothing");
  Ask("down", kTime, kTime);
  CHECK(
      Read() ==
      "__name__=up,job=a, 0=1.000000 1000=0.100000; __name__=up,job=b:9, 0=3.000000 1=-0.000000; \n"
      "\n"
      "__name__=down,job=a, 0=7.000000; \n");
  CHECK(counters.query_success == 1);
}

TEST_CASE_FIXTURE(RemoteRead, "all four kinds of matchers are supported") {
  for (const char* job : {"a", "b", "c"}) Write("up", job, 1, kTime);
  const auto read = [&](prometheus::LabelMatcher::Type type, const std::string& value) {
    message.Clear();
    Ask("up");
    AddMatcher(message.mutable_queries(0), type, "job", value);
    std::string jobs;
    const std::string text = Read();
    for (size_t at = 0; (at = text.find("job=", at)) != std::string::npos; ++at)
      jobs += text[at + 4];
    return jobs;
  };
  CHECK(read(prometheus::LabelMatcher::EQUAL, "b") == "b");
  CHECK(read(prometheus::LabelMatcher::NOT_EQUAL, "b") == "ac");
  CHECK(read(prometheus::LabelMatcher::MATCHES, "[ab]") == "ab");
  CHECK(read(prometheus::LabelMatcher::MATCHES_NOT, "[ab]") == "c");
}

TEST_CASE_FIXTURE(RemoteRead,
                  "a series without labels is read without labels, whatever the default tag is") {
  options.default_tag_key = "via";
  options.default_tag_value = "lines";
  WriteSeries({{"__name__", "m"}}, 1, kTime);
  WriteSeries({{"__name__", "m"}, {"via", "lines"}}, 2, kTime);
  WriteSeries({{"__name__", "m"}, {"source", "unknown"}}, 3, kTime);
  Ask("m");
  CHECK(Read() ==
        "__name__=m, 0=1.000000; __name__=m,via=lines, 0=2.000000; "
        "__name__=m,source=unknown, 0=3.000000; \n");
}

TEST_CASE_FIXTURE(RemoteRead, "points that were put as integers are read as samples") {
  REQUIRE(Post("/api/put", R"({"metric":"m","timestamp":1700000000,"value":42,"tags":{"h":"a"}})")
              .status == 204);
  Ask("m");
  CHECK(Read() == "__name__=m,h=a, -123=42.000000; \n");
}

TEST_CASE_FIXTURE(RemoteRead, "requests that cannot be answered are refused") {
  Ask("up");
  AddMatcher(message.mutable_queries(0), prometheus::LabelMatcher::MATCHES, "job", "(");
  BufferResponse reply = Send();
  CHECK(reply.status == 400);
  CHECK(reply.body.find("regular expression") != std::string::npos);
  message.mutable_queries(0)->mutable_matchers(1)->set_type(
      static_cast<prometheus::LabelMatcher::Type>(4));
  reply = Send();
  CHECK(reply.status == 400);
  CHECK(reply.body.find("no matcher of type 4") != std::string::npos);
  message.Clear();
  message.add_accepted_response_types(static_cast<prometheus::ReadRequest::ResponseType>(9));
  CHECK(Send().status == 400);
  message.add_accepted_response_types(prometheus::ReadRequest::SAMPLES);
  message.add_accepted_response_types(prometheus::ReadRequest::STREAMED_XOR_CHUNKS);
  CHECK(Read().empty());
  CHECK(PostWith(*this, kHeaders, "/api/v1/read", "x").status == 400);
  CHECK(PostWith(*this, kHeaders, "/api/v1/read", PackSnappy("x")).status == 400);
  CHECK(PostWith(*this, kHeaders, "/api/v1/read", PackSnappy(std::string(2 << 20, 'x'))).status ==
        413);
  CHECK(Post("/api/v1/read", "x").status == 415);
}

TEST_CASE_FIXTURE(RemoteRead, "a client that prefers streamed chunks gets them") {
  message.add_accepted_response_types(static_cast<prometheus::ReadRequest::ResponseType>(9));
  message.add_accepted_response_types(prometheus::ReadRequest::STREAMED_XOR_CHUNKS);
  message.add_accepted_response_types(prometheus::ReadRequest::SAMPLES);
  const double stale = std::bit_cast<double>(uint64_t{0x7ff0000000000002});
  std::string body = "[";
  for (int i = 0; i < 300; ++i) {
    body += std::string(i > 0 ? "," : "") + R"({"metric":"up","timestamp":)" +
            std::to_string(1700000000 + 10 * i) + R"(,"value":)" + std::to_string(i % 7) +
            R"(,"tags":{"job":"b"}})";
  }
  REQUIRE(Post("/api/put", body + "]").status == 204);
  Write("up", "a", 1.5, kTime);
  Write("up", "a", stale, kTime + 1000);
  Write("down", "a", 7, kTime);
  Ask("nothing");
  Ask("up");
  Ask("down");
  const BufferResponse reply = Send();
  REQUIRE(reply.status == 200);
  CHECK(reply.content_type == kChunkedReadType);
  CHECK(reply.Header("Content-Encoding") == nullptr);
  std::string text;
  for (const prometheus::ChunkedReadResponse& frame : FramesOf(reply.body)) {
    REQUIRE(frame.chunked_series_size() == 1);
    text += std::to_string(frame.query_index()) + ":";
    for (const prometheus::Label& label : frame.chunked_series(0).labels())
      text += label.name() + "=" + label.value() + ",";
    for (const prometheus::Chunk& chunk : frame.chunked_series(0).chunks()) {
      CHECK(chunk.type() == prometheus::Chunk::XOR);
      const std::vector<XorSample> samples = DecodeXorChunk(chunk.data());
      REQUIRE(!samples.empty());
      CHECK(samples.front().time_ms == chunk.min_time_ms());
      CHECK(samples.back().time_ms == chunk.max_time_ms());
      text += " " + std::to_string(samples.size());
      if (std::bit_cast<uint64_t>(samples.back().value) == std::bit_cast<uint64_t>(stale))
        text += " stale";
    }
    text += ";";
  }
  CHECK(text ==
        "1:__name__=up,job=a, 2 stale;1:__name__=up,job=b, 120 120 60;"
        "2:__name__=down,job=a, 1;");
  CHECK(counters.query_success == 1);
}

TEST_CASE_FIXTURE(RemoteRead, "the numbers of queries and matchers of a request are limited") {
  Write("up", "a", 1, kTime);
  const auto refusal = [&] {
    const BufferResponse reply = Send();
    CHECK(reply.status == 400);
    return reply.body;
  };
  Ask("up");
  for (int i = 1; i < kReadMatchersMax; ++i)
    AddMatcher(message.mutable_queries(0), prometheus::LabelMatcher::EQUAL, "job", "a");
  CHECK(Read() == "__name__=up,job=a, 0=1.000000; \n");
  message.add_queries()->add_matchers()->set_name("one more");
  CHECK(refusal().find("The queries have 1001 matchers, at most 1000") != std::string::npos);

  message.Clear();
  Ask("up");
  for (int i = 0; i < query::promql::kPatternsMax; ++i)
    AddMatcher(message.mutable_queries(0), prometheus::LabelMatcher::MATCHES, "job", "a|b");
  CHECK(Send().status == 200);
  message.add_queries();
  AddMatcher(message.mutable_queries(1), prometheus::LabelMatcher::MATCHES_NOT, "job", "b");
  CHECK(refusal().find("The queries have 101 regular expressions, at most 100") !=
        std::string::npos);

  message.Clear();
  for (int i = 0; i <= kReadQueriesMax; ++i) message.add_queries();
  CHECK(refusal().find("The request has 1001 queries, at most 1000") != std::string::npos);
}

TEST_CASE_FIXTURE(RemoteRead, "a response that exceeds the memory of a query gives 413") {
  std::string body = "[";
  for (int i = 0; i < 3600; ++i) {
    body += std::string(i > 0 ? "," : "") + R"({"metric":"m","timestamp":)" +
            std::to_string(1700000000 + i) + R"(,"value":1,"tags":{"h":"a"}})";
  }
  REQUIRE(Post("/api/put", body + "]").status == 204);
  for (int i = 0; i < 1000; ++i) Ask("m");
  CHECK(Send().status == 413);
  message.mutable_queries()->DeleteSubrange(1, 999);
  CHECK(Send().status == 200);
}

TEST_CASE_FIXTURE(RemoteRead, "a remote read ends if its client has gone") {
  Write("up", "a", 1, kTime);
  Ask("up");
  const std::string body = PackSnappy(message.SerializeAsString());
  Request request = MakeRequest("POST", "/api/v1/read", body);
  request.headers = kHeaders;
  BufferResponse reply;
  reply.cancelled = true;
  Dispatch(request, services, reply);
  CHECK(reply.status == 413);
}

}  // namespace hg::http
