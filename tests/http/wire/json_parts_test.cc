#include "http/wire/json_parts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "tests/support/buffer_response.h"

namespace hg::http {
namespace {

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
  elements.points = [](size_t element) { return element % 1000 == 7 ? size_t{20000} : size_t{40}; };
  elements.print = [printed](size_t begin, size_t end, JsonWriter* json) {
    for (size_t i = begin; i < end && json->alive(); ++i) {
      json->String(std::to_string(i) + std::string(500, 'x'));
      ++*printed;
    }
  };
  return elements;
}

Printers Threads(size_t threads) {
  return {threads, [](size_t count, const std::function<bool(size_t)>& task) {
            for (size_t i = count; i > 0; --i) (void)task(i - 1);
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
