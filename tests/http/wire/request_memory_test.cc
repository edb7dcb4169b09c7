#include "http/wire/request_memory.h"

#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <otlp.pb.h>

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "http/wire/body_coding.h"
#include "http/wire/charset.h"
#include "http/wire/json_value.h"
#include "http/wire/otlp_points.h"
#include "http/wire/percent.h"
#include "http/wire/protobuf_message.h"
#include "http/wire/put_document.h"
#include "http/wire/snappy_block.h"
#include "tests/support/fake_watch.h"

namespace hg::http {
namespace {

constexpr uint64_t kMiB = 1 << 20;

/// Returns an array with `count` copies of `element`.
std::string ArrayOf(std::string_view element, size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) text.append(i > 0 ? "," : "").append(element);
  return text + "]";
}

/// Returns a point for /api/put that has only tags.
std::string PointOfTags(size_t count) {
  std::string tags;
  for (size_t i = 0; i < count; ++i) tags += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  return R"({"tags":{)" + tags + "}}";
}

TEST_CASE("free bytes of a share are not taken from the budget, and further ones are") {
  RequestMemory memory(8 * kMiB);
  RequestMemory::Share share(memory, 1000);
  CHECK(share.Take(1000));
  CHECK(memory.taken() == 0);
  CHECK(share.Take(2 * kMiB));
  CHECK(memory.taken() >= 2 * kMiB);
  CHECK(memory.taken() < 3 * kMiB);
  share.Give(2 * kMiB);
  CHECK(share.Take(2 * kMiB));
  CHECK(memory.taken() < 3 * kMiB);
  share.GiveAll();
  CHECK(memory.taken() == 0);
}

TEST_CASE("invalid bytes in a JSON text are charged with the size of their replacements") {
  for (const bool key : {false, true}) {
    CAPTURE(key);
    const std::string text(kMiB, '\xff');
    const std::string json = key ? "{\"" + text + "\":1}" : "[\"" + text + "\"]";
    RequestMemory small(4 * kMiB), large(64 * kMiB);
    RequestMemory::Share refused(small, 0), enough(large, 0);
    CHECK(ParseJson(json, &refused).status().code() == StatusCode::kLimitExceeded);
    CHECK(ParseJson(json, &enough).ok());
  }
}

TEST_CASE("one request may take half of the budget") {
  RequestMemory memory(8 * kMiB);
  {
    RequestMemory::Share large(memory, 0), other(memory, 0), third(memory, 0);
    CHECK(large.Take(4 * kMiB));
    CHECK_FALSE(large.Take(1));
    CHECK(large.refusal().code() == StatusCode::kLimitExceeded);
    CHECK(large.refusal().message().find("4 MB") != std::string::npos);
    CHECK(large.refusal().message().find("tsd.memory.limit") != std::string::npos);
    CHECK(other.Take(4 * kMiB));
    CHECK_FALSE(third.Take(1));
    CHECK(third.refusal().code() == StatusCode::kBusy);
    CHECK(third.refusal().message().find("tsd.http.request.max_chunk") != std::string::npos);
    other.GiveAll();
    CHECK(third.Take(1));
  }
  CHECK(memory.taken() == 0);
}

TEST_CASE("concurrent requests for memory cannot make each other fail while there is enough") {
  RequestMemory memory(8 * kMiB);
  RequestMemory::Share others(memory, 0), more(memory, 0);
  REQUIRE(others.Take(4 * kMiB));
  REQUIRE(more.Take(4 * kMiB - 120'000));
  std::atomic<int> refused{0};
  const auto ask = [&] {
    for (int round = 0; round < 5'000'000; ++round) {
      RequestMemory::Share share(memory, 0);
      if (!share.Take(60'000)) ++refused;
    }
  };
  std::thread other(ask);
  ask();
  other.join();
  CHECK(refused == 0);
}

TEST_CASE("memory for a body is charged before it is received") {
  const std::string text(10 * kMiB, ' ');
  const auto packed = [&text](ContentCoding coding) {
    BodyPacker packer(coding);
    std::string bytes;
    packer.Pack(text, true, &bytes);
    return bytes;
  };
  const std::string gzip = packed(ContentCoding::kGzip), deflate = packed(ContentCoding::kDeflate),
                    snappy = PackSnappy(text);
  using Make = std::function<Status(std::string*, RequestMemory::Share*)>;
  const auto made = [&](const Make& make, uint64_t budget) {
    RequestMemory memory(budget);
    RequestMemory::Share share(memory, 0);
    std::string out;
    const Status status = make(&out, &share);
    if (status.ok()) {
      CHECK(share.held() >= out.size());
    } else {
      CHECK(share.held() == 0);
      CHECK(out.capacity() < 2 * kMiB);
      CHECK(share.refusal().code() == status.code());
    }
    return status.code();
  };
  for (const Make& make :
       {Make([&](std::string*out, RequestMemory::Share*share) {
          return UnpackBody(ContentCoding::kGzip, gzip, 64 * kMiB, 64, out, share,
                            RequestContext::Unlimited());
        }),
        Make([&](std::string*out, RequestMemory::Share*share) {
          return UnpackBody(ContentCoding::kDeflate, deflate, 64 * kMiB, 64, out, share,
                            RequestContext::Unlimited());
        }),
        Make([&](std::string*out, RequestMemory::Share*share) {
          return UnpackSnappy(snappy, 64 * kMiB, out, share);
        }),
        Make([&](std::string*out, RequestMemory::Share*share) -> Status {
          ASSIGN_OR_RETURN(*out, ToUtf8("ISO-8859-1", text, share, RequestContext::Unlimited()));
          return {};
        })}) {
    CHECK(made(make, 4 * kMiB) == StatusCode::kLimitExceeded);
    CHECK(made(make, 256 * kMiB) == StatusCode::kOk);
  }
}

TEST_CASE("a budget of 0 refuses nothing") {
  RequestMemory memory(0);
  RequestMemory::Share share(memory, 0);
  CHECK(share.Take(uint64_t{1} << 40));
}

TEST_CASE("memory for a document tree is charged before it is built") {
  for (const char* element : {"1", "[]", "{}", R"({"":0})", R"(["a text that is no short one"])"}) {
    CAPTURE(element);
    const std::string text = ArrayOf(element, 40000);
    RequestMemory memory(4 * kMiB);
    RequestMemory::Share share(memory, 0);
    const auto parsed = ParseJson(text, &share);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == StatusCode::kLimitExceeded);
    CHECK(memory.taken() <= 2 * kMiB);
  }
}

TEST_CASE("messages and parameters that need much more memory than bytes are charged") {
  RequestMemory memory(kMiB);
  RequestMemory::Share share(memory, 0);
  google::protobuf::ListValue list;
  CHECK(ParseJsonMessage(ArrayOf("{}", 1000), &list, &share).ok());
  CHECK(ParseJsonMessage(ArrayOf("{}", 10000), &list, &share).code() == StatusCode::kLimitExceeded);
  share.GiveAll();
  RequestMemory::Share form(memory, 0);
  std::string pairs;
  for (int i = 0; i < 1000; ++i) pairs += "a&";
  Parameters few, many;
  CHECK(ParseQueryString(pairs, &few, &form));
  for (int i = 0; i < 4; ++i) pairs += pairs;
  CHECK_FALSE(ParseQueryString(pairs, &many, &form));
  CHECK(form.refusal().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("OpenTelemetry requests of exporters are charged a few times their size") {
  const std::string point =
      R"({"attributes":[{"key":"host","value":{"stringValue":"web-01.example"}},{"key":"region","value":{"stringValue":"eu-central-1"}}],)"
      R"("startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000010000000000","asDouble":17.25})";
  const std::string body =
      R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"load","gauge":{"dataPoints":)" +
      ArrayOf(point, 1000) + "}}]}]}]}";
  RequestMemory memory(24 * body.size());  // one request may use half of it
  RequestMemory::Share share(memory, 0);
  otlp::ExportMetricsServiceRequest request;
  CHECK(ParseJsonMessage(body, &request, &share).ok());
  CHECK(request.SpaceUsedLong() <= memory.taken());
}

struct IdleLabelledSink : LabelledSink {
  void SetSeries(std::string_view, std::span<const Label>) override {}
  bool BeginItem() override { return true; }
  void Add(int64_t, PointValue) override {}
  void Refuse(std::string_view) override {}
};

/// A protobuf field that contains messages.
std::string Field(char tag, const std::string& content) {
  std::string out(1, tag);
  size_t size = content.size();
  for (; size >= 0x80; size >>= 7) out += static_cast<char>(size | 0x80);
  return out + static_cast<char>(size) + content;
}

TEST_CASE("protobuf data points that need much more memory than bytes are charged") {
  const auto refused = [](const std::string& metric, size_t times) {
    RequestMemory memory(8 * kMiB);
    RequestMemory::Share share(memory, 0);
    std::string metrics;
    for (size_t i = 0; i < times; ++i) metrics += metric;
    IdleLabelledSink sink;
    const bool read =
        AddDataPoints(Field('\x0A', Field('\x12', metrics)), OtlpNaming(), &sink, &share);
    CHECK(read == share.refusal().ok());
    CHECK(memory.taken() <= 4 * kMiB);
    return share.refusal().code() == StatusCode::kLimitExceeded;
  };
  std::string empties;
  for (size_t i = 0; i < 100'000; ++i) empties += std::string("\x0A\0", 2);
  CHECK(refused(Field('\x12', Field('\x4A', empties)), 1));          // points of a histogram
  CHECK(refused(Field('\x12', Field('\x2A', empties)), 1));          // of a gauge
  CHECK(refused(Field('\x12', std::string("\x08\0", 2)), 100'000));  // metrics
  CHECK_FALSE(refused(Field('\x12', Field('\x4A', empties.substr(0, 2000))), 100));
}

TEST_CASE("numbers out of range, which are restored after parsing, are charged, too") {
  RequestMemory memory(2 * kMiB);
  RequestMemory::Share share(memory, 0);
  const std::string text = "{\"a\":1e400,\"b\":" + std::string(60000, '[') + ArrayOf("1e1", 90000);
  CHECK(ParseJson(text, &share).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("elements that are passed on one by one take only the memory of one element") {
  const std::string text = ArrayOf(R"({"a":[1,2,{"b":"c"}]})", 40000);
  RequestMemory memory(kMiB);
  RequestMemory::Share share(memory, 0);
  size_t elements = 0;
  CHECK(ParseJsonElements(
            text,
            [&](const JsonValue& element) {
              elements += element.Find("a")->items.size() == 3 ? 1 : 0;
              return Status();
            },
            &share)
            .ok());
  CHECK(elements == 40000);
  CHECK(memory.taken() <= kMiB / 2);
}

TEST_CASE("elements are passed on once, in order, however large their numbers are") {
  std::string seen;
  const auto note = [&seen](const JsonValue& element) {
    seen += element.text + (element.is_array() ? "list " : " ");
    return Status();
  };
  CHECK(ParseJsonElements("[1,2,[3,4],1e400,5,-2e999,6]", note, nullptr).ok());
  CHECK(seen == "1 2 list 1e400 5 -2e999 6 ");
  seen.clear();
  CHECK(ParseJsonElements("7", note, nullptr).ok());
  CHECK(seen == "7 ");
  CHECK(ParseJsonElements("[]", note, nullptr).ok());
  CHECK(seen == "7 ");
  CHECK_FALSE(ParseJsonElements("[8,", note, nullptr).ok());
  CHECK(seen == "7 8 ");
  const Status enough = ParseJsonElements(
      "[1,2,3",
      [](const JsonValue& element) {
        return element.text == "2" ? Status::NotFound("enough") : Status();
      },
      nullptr);
  CHECK(enough.code() == StatusCode::kNotFound);
}

TEST_CASE("points that need much more memory than bytes are charged") {
  RequestMemory memory(8 * kMiB);
  RequestMemory::Share share(memory, 0);
  CHECK(ParsePutDocument(ArrayOf("{}", 1000), &share).ok());
  for (const char* element : {"{}", "null"}) {
    const auto points = ParsePutDocument(ArrayOf(element, 40000), &share);
    CHECK(points.status().code() == StatusCode::kLimitExceeded);
  }
  share.GiveAll();
  CHECK(ParsePutDocument("[" + PointOfTags(60000) + "]", &share).status().code() ==
        StatusCode::kLimitExceeded);
}

TEST_CASE("two copies of the tags of a point are charged while the point is read") {
  constexpr size_t kTags = 60000;
  RequestMemory memory(0);
  RequestMemory::Share share(memory, 0);
  CHECK(ParsePutDocument(PointOfTags(kTags), &share).ok());
  CHECK(memory.taken() > kTags * (sizeof(JsonValue) + sizeof(std::string) + 3 * sizeof(PutTag)));
}

TEST_CASE("the end of its request ends the parsing of a large body") {
  FakeWatch ended;
  ended.checks_max = 0;
  CHECK(ParsePutDocument(PointOfTags(60000), nullptr, PutKind::kPoints, ended).status().code() ==
        StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hg::http
