#include "http/wire/json_parts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/buffer_response.h"

namespace hg::http {
namespace {

/// A client that records the size of the largest piece.
class MeasuringClient : public BufferResponse {
 public:
  bool Write(std::string_view bytes) override {
    largest = std::max(largest, bytes.size());
    return BufferResponse::Write(bytes);
  }

  size_t largest = 0;
};

/// A client that accepts that many bytes and then disconnects.
class LeavingClient : public BufferResponse {
 public:
  explicit LeavingClient(size_t bytes_max) : bytes_max_(bytes_max) {}
  bool Write(std::string_view bytes) override {
    body.append(bytes);
    return body.size() <= bytes_max_;
  }

 private:
  size_t bytes_max_;
};

constexpr size_t kElements = 5000;

ElementPrinting Numbers(std::atomic<size_t>* printed) {
  ElementPrinting elements;
  elements.count = kElements;
  elements.bytes_max = [](size_t element) {
    return element % 1000 == 7 ? kStreamedBytes : size_t{510};
  };
  elements.print = [printed](size_t begin, size_t end, JsonWriter* json) {
    for (size_t i = begin; i < end && json->alive(); ++i) {
      json->String(std::to_string(i) + std::string(500, 'x'));
      ++*printed;
    }
  };
  return elements;
}

/// Returns printers with that many threads. `most`, if it is not null, becomes the largest number
/// of texts that waited at the same time.
Printers Threads(size_t threads, size_t* most = nullptr) {
  return {threads, [most](size_t count, const std::function<bool(size_t)>& task) {
            for (size_t i = count; i > 0; --i) (void)task(i - 1);
            if (most != nullptr) *most = std::max(*most, count);
          }};
}

std::string Printed(const Printers& printers) {
  std::atomic<size_t> printed{0};
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  PrintElements(Numbers(&printed), printers, &json);
  json.EndArray();
  CHECK(printed == kElements);
  return text;
}

TEST_CASE("several threads print the same document as one thread") {
  const std::string alone = Printed({});
  CHECK(Printed(Threads(2)) == alone);
  CHECK(Printed(Threads(5)) == alone);
}

TEST_CASE("the number of texts that wait has a limit that does not grow with the threads") {
  std::atomic<size_t> printed{0};
  size_t most = 0;
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  PrintElements(Numbers(&printed), Threads(64, &most), &json);
  json.EndArray();
  CHECK(most > 1);
  CHECK(most <= kWaitingPartsMax);
  CHECK(text == Printed({}));
}

TEST_CASE("a text that waits is shorter than its limit, and longer elements are streamed") {
  // Each element consists of values of a kilobyte, so a streamed element is written in small
  // pieces.
  constexpr size_t kValueBytes = 1024;
  const std::vector<size_t> values = {1, 100, 10, 2000, 60, 120, 700, 766, 500, 767, 1, 5000, 3};
  ElementPrinting elements;
  elements.count = 40;
  elements.bytes_max = [&](size_t i) { return kValueBytes * values[i % values.size()]; };
  elements.print = [&](size_t begin, size_t end, JsonWriter* json) {
    for (size_t i = begin; i < end; ++i) {
      for (size_t v = values[i % values.size()]; v > 0 && json->alive(); --v)
        json->String(std::string(kValueBytes - 3, 'x'));
    }
  };
  MeasuringClient client;
  JsonWriter json(&client);
  json.BeginArray();
  PrintElements(elements, Threads(8), &json);
  json.EndArray();
  CHECK(json.Finish());
  CHECK(client.largest > kPartBytes);
  CHECK(client.largest < kPartBytes + kStreamedBytes);
  MeasuringClient alone;
  JsonWriter streamed(&alone);
  streamed.BeginArray();
  PrintElements(elements, {}, &streamed);
  streamed.EndArray();
  CHECK(streamed.Finish());
  CHECK(alone.largest < 64 * 1024);
  CHECK((client.body == alone.body));
}

TEST_CASE("almost nothing more is printed after the client has gone") {
  std::atomic<size_t> printed{0};
  LeavingClient client(100'000);
  JsonWriter json(&client);
  json.BeginArray();
  PrintElements(Numbers(&printed), Threads(2), &json);
  CHECK_FALSE(json.alive());
  CHECK(printed < kElements / 4);
}

}  // namespace
}  // namespace hg::http
