#include "storage/thrift2/thrift2_server.h"

#include <doctest/doctest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/base/varint.h"
#include "storage/codec/row_key.h"
#include "storage/hbase/hbase_store.h"
#include "tests/storage/engine/embedded_subject.h"
#include "tests/support/model_store.h"

namespace hg::thrift2 {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

const TableDescriptor kTable{"g", {{"a"}, {"b"}}, false};

/// A server over the model store with table "g".
struct Node {
  explicit Node(Thrift2Options options = {}) {
    REQUIRE(model.CreateTable(kTable).ok());
    auto started = Thrift2Server::Start([this]() -> Store& { return model; }, std::move(options));
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server = std::move(*started);
  }

  [[nodiscard]] hbase::HbaseOptions ClientOptions() const {
    hbase::HbaseOptions options;
    options.gateways = {{"127.0.0.1", server->port()}};
    options.backoff_ms = 1;
    options.backoff_max_ms = 2;
    options.deadline_ms = 50;
    return options;
  }
  [[nodiscard]] std::unique_ptr<hbase::HbaseStore> Connect() const {
    return Connect(ClientOptions());
  }
  [[nodiscard]] static std::unique_ptr<hbase::HbaseStore> Connect(
      const hbase::HbaseOptions& client) {
    auto connected = hbase::HbaseStore::Connect(client);
    INFO(connected.status().ToString());
    REQUIRE(connected.ok());
    return std::move(*connected);
  }

  ModelStore model;
  std::unique_ptr<Thrift2Server> server;
};

/// A connection without a Thrift client.
class RawClient {
 public:
  /// `receive_bytes`: approximate size of the system's receive buffer; 0 = the system's default.
  explicit RawClient(const Node& node, int receive_bytes = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes)) == 0);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(node.server->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { ::close(fd_); }

  void Send(ByteView bytes) const { (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// Returns whether the server answers within a generous time.
  [[nodiscard]] bool IsAnswered() const {
    pollfd peer{fd_, POLLIN, 0};
    char byte = 0;
    return ::poll(&peer, 1, 20'000) == 1 && ::recv(fd_, &byte, 1, 0) == 1;
  }
  /// Reads some bytes. Returns the number of bytes; 0 or less: the server has closed the
  /// connection.
  ssize_t Read(size_t most) const {
    Bytes bytes(most, '\0');
    return ::recv(fd_, bytes.data(), bytes.size(), 0);
  }
  /// Reads exactly `size` bytes.
  [[nodiscard]] Bytes ReadAll(size_t size) const {
    Bytes bytes(size, '\0');
    REQUIRE(::recv(fd_, bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size));
    return bytes;
  }
  /// Returns whether the server closes the connection within a generous time.
  [[nodiscard]] bool IsClosed() const {
    pollfd peer{fd_, POLLIN, 0};
    char byte = 0;
    return ::poll(&peer, 1, 20'000) == 1 && ::recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  const int fd_;
};

Bytes Big(uint64_t value, int width) {
  Bytes bytes;
  AppendBig(&bytes, value, width);
  return bytes;
}

// The beginning of a call in the binary protocol, up to the first field of its arguments.
Bytes Call(const std::string& method) {
  return Bytes("\x80\x01\x00\x01", 4) + Big(method.size(), 4) + method + Big(1, 4);
}

// A field of type string, list or struct.
Bytes FieldHead(int type, int id) {
  return Big(static_cast<uint64_t>(type), 1) + Big(static_cast<uint64_t>(id), 2);
}
constexpr int kString = 11, kStruct = 12, kList = 15;

// A batch of puts that states a number of elements.
Bytes PutsHead(uint32_t count) {
  return Call("putMultiple") + FieldHead(kString, 1) + Big(1, 4) + "g" + FieldHead(kList, 2) +
         Big(kStruct, 1) + Big(count, 4);
}

void Fill(Store& store, int rows, size_t value_bytes) {
  for (int i = 0; i < rows; ++i) {
    const Bytes key = "k" + std::to_string(10000 + i).substr(1);
    REQUIRE(store.Mutate("g", {{key, {PutCell("a", "q", Bytes(value_bytes, 'v'))}}}).ok());
  }
}

ScanSpec All() {
  ScanSpec spec;
  spec.table = "g";
  return spec;
}

size_t CountRows(Store& store, Status* status) {
  auto cursor = store.Scan(All());
  *status = cursor.status();
  size_t count = 0;
  for (std::vector<Row> rows; status->ok();) {
    *status = (*cursor)->Next(&rows);
    if (!status->ok() || rows.empty()) break;
    count += rows.size();
  }
  return count;
}

template <typename Condition>
void WaitUntil(const Condition& holds) {
  const auto end = steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    REQUIRE(steady_clock::now() < end);
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST_CASE("data that is not Thrift closes its own connection and no other") {
  const Node node;
  const auto store = node.Connect();
  for (const Bytes& bytes : {Bytes("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), Bytes(100, '\0'),
                             Bytes(100, '\xFF'), Bytes("\x16\x03\x01\x01\x10 hello, TLS")}) {
    const RawClient client(node);
    client.Send(bytes);
    CHECK(client.IsClosed());
    CHECK(store->Increment("g", "k", "a", "n", 0).ok());
  }
  // The calls of the other connection went on over the same connection.
  CHECK(store->Stats().gateways[0].opened == 1);
}

TEST_CASE(
    "a request that breaks off or states wrong sizes closes its own connection and no other") {
  const Node node;
  const auto store = node.Connect();
  const Bytes string_of_a_gigabyte = Call("get") + FieldHead(kString, 1) + Big(1 << 30, 4);
  const Bytes negative_string = Call("get") + FieldHead(kString, 1) + Big(0xFFFFFFFF, 4);
  const Bytes no_fields = Call("get") + Bytes(1, '\0');
  for (const Bytes& bytes : {string_of_a_gigabyte, negative_string, no_fields, PutsHead(0x7FFFFFFF),
                             PutsHead(1'000'000) + Bytes(1000, '\0'), PutsHead(0xFFFFFFFF)}) {
    const RawClient client(node);
    client.Send(bytes);
    CHECK(client.IsClosed());
  }
  CHECK(store->Increment("g", "k", "a", "n", 1).ok());
  WaitUntil([&] { return node.server->Stats().memory_bytes == 0; });
}

TEST_CASE(
    "the memory of the elements that a request announces is charged before they are created") {
  Thrift2Options options;
  options.memory_bytes_max = 1 << 20;
  const Node node(options);
  const RawClient client(node);
  client.Send(PutsHead(100'000));
  CHECK(client.IsClosed());
}

TEST_CASE("a request that is longer than the limit closes its connection") {
  Thrift2Options options;
  options.message_bytes_max = 1 << 20;
  const Node node(options);
  const auto store = node.Connect();
  const auto put = [&](size_t bytes) {
    return store->Mutate("g", {{"k", {PutCell("a", "q", Bytes(bytes, 'v'))}}});
  };
  CHECK(put(1000).ok());
  CHECK(put(2 << 20).code() == StatusCode::kUnavailable);
  WaitUntil([&] { return put(1 << 19).ok(); });
}

TEST_CASE("a connection keeps no buffer of a large frame") {
  const Node node;
  // A get of a row with an unknown field of 15 MB.
  const Bytes call = Call("get") + FieldHead(kString, 1) + Big(1, 4) + "g" + FieldHead(kStruct, 2) +
                     FieldHead(kString, 1) + Big(1, 4) + "k" + FieldHead(kString, 99) +
                     Big(15 << 20, 4) + Bytes(15 << 20, 'x') + Bytes(2, '\0');
  const auto allocated = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const size_t before = allocated();
  std::list<RawClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(node).Send(Big(call.size(), 4) + call);
    CHECK(clients.back().IsAnswered());
  }
  WaitUntil([&] { return allocated() < before + (30 << 20); });
}

// A call in the compact protocol, up to the first field of its arguments.
Bytes CompactCall(const std::string& method) {
  return "\x82\x21\x01" + Big(method.size(), 1) + method;
}

TEST_CASE("a connection keeps no buffer of a long string in the compact protocol") {
  const Node node;
  constexpr size_t kBytes = 15 << 20;
  Bytes size;
  AppendVarint(&size, kBytes);
  // A get of a row with a key of 15 MB, which is refused.
  const Bytes call =
      CompactCall("get") + "\x18\x01g\x1c\x18" + size + Bytes(kBytes, 'k') + Bytes(2, '\0');
  const auto allocated = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const size_t before = allocated();
  std::list<RawClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(node).Send(call);
    CHECK(clients.back().IsAnswered());
  }
  WaitUntil([&] { return allocated() < before + (30 << 20); });
  CHECK(node.server->Stats().connections == 8);
}

TEST_CASE("a call whose method has a long name closes its connection before the name arrives") {
  const Node node;
  Bytes size;
  for (const size_t bytes : {size_t{257}, size_t{15} << 20}) {
    const RawClient binary(node), compact(node);
    binary.Send(Bytes("\x80\x01\x00\x01", 4) + Big(bytes, 4));
    size.clear();
    AppendVarint(&size, bytes);
    compact.Send("\x82\x21\x01" + size);
    CHECK(binary.IsClosed());
    CHECK(compact.IsClosed());
  }
  const RawClient unknown(node);  // a shorter name gets an answer
  unknown.Send(Call(std::string(256, 'x')) + Bytes(1, '\0'));
  CHECK(unknown.IsAnswered());
}

TEST_CASE("a field that the server skips takes no memory before its bytes arrive") {
  const Node node;
  const auto allocated = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const size_t before = allocated();
  std::list<RawClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(node).Send(Call("get") + FieldHead(kString, 99) + Big(15 << 20, 4));
  }
  // Each connection is charged for the beginning of its request.
  WaitUntil([&] { return node.server->Stats().memory_bytes >= 8 * (64 << 10); });
  std::this_thread::sleep_for(milliseconds(100));
  CHECK(allocated() < before + (30 << 20));
}

TEST_CASE("a framed response is charged while it is sent, and complete") {
  Node node;
  constexpr size_t kValue = 8 << 20;
  REQUIRE(node.model.Mutate("g", {{"k", {PutCell("a", "q", Bytes(kValue, 'v'))}}}).ok());
  REQUIRE(node.model.Mutate("g", {{"k", {PutCell("b", "q", Bytes(kValue, 'v'))}}}).ok());
  const RawClient client(node, 64 << 10);
  const Bytes call = Call("get") + FieldHead(kString, 1) + Big(1, 4) + "g" + FieldHead(kStruct, 2) +
                     FieldHead(kString, 1) + Big(1, 4) + "k" + Bytes(2, '\0');
  for (int i = 0; i < 2; ++i) {
    client.Send(Big(call.size(), 4) + call);
    // The cells and their encoded form.
    WaitUntil([&] { return node.server->Stats().memory_bytes > int64_t{4 * kValue}; });
    Bytes head = client.ReadAll(4);
    const auto size = static_cast<size_t>(ReadBig32(head.data()));
    CHECK(size > 2 * kValue);
    const Bytes response = client.ReadAll(size);
    CHECK(response.starts_with(Bytes("\x80\x01\x00\x02", 4)));
    CHECK(std::count(response.begin(), response.end(), 'v') >= int64_t{2 * kValue});
    WaitUntil([&] { return node.server->Stats().memory_bytes == 0; });
  }
}

TEST_CASE(
    "a framed connection in the compact protocol may send calls with large responses for ever") {
  Thrift2Options options;
  options.message_bytes_max = 1024;
  Node node(options);
  constexpr size_t kValue = 70'000;
  REQUIRE(node.model.Mutate("g", {{"k", {PutCell("a", "q", Bytes(kValue, 'v'))}}}).ok());
  const RawClient client(node);
  const Bytes call = CompactCall("get") + "\x18\x01g\x1c\x18\x01k" + Bytes(2, '\0');
  const auto calls = static_cast<size_t>(options.message_bytes_max);
  for (size_t i = 0; i < calls; ++i) {
    client.Send(Big(call.size(), 4) + call);
    const Bytes head = client.ReadAll(4);
    const auto size = static_cast<size_t>(ReadBig32(head.data()));
    REQUIRE(size > kValue);
    (void)client.ReadAll(size);
  }
}

TEST_CASE("connections above the limit are closed at once and counted") {
  Thrift2Options options;
  options.connections_max = 2;
  const Node node(options);
  const RawClient first(node), second(node);
  WaitUntil([&] { return node.server->Stats().connections == 2; });
  const RawClient third(node);
  CHECK(third.IsClosed());
  CHECK(node.server->Stats().refused == 1);
  CHECK(node.server->Stats().connections == 2);
}

TEST_CASE("at the limit of connections, a new one replaces one that completes no request") {
  Thrift2Options options;
  options.connections_max = 2;
  options.silent = milliseconds(50);
  const Bytes call = Call("get") + FieldHead(kString, 1) + Big(1, 4) + "g" + FieldHead(kStruct, 2) +
                     FieldHead(kString, 1) + Big(1, 4) + "k" + Bytes(2, '\0');
  for (const Bytes& sent : {Bytes(), call.substr(0, 3), call.substr(0, 20)}) {
    CAPTURE(sent.size());
    const Node node(options);
    const RawClient silent(node);
    silent.Send(sent);
    WaitUntil([&] { return node.server->Stats().connections == 1; });
    std::this_thread::sleep_for(milliseconds(20));
    const RawClient other(node);
    WaitUntil([&] { return node.server->Stats().connections == 2; });
    // New connections are refused until the first one has been silent for long enough.
    std::optional<RawClient> one_more;
    WaitUntil([&] {
      one_more.emplace(node);
      one_more->Send(call);
      return one_more->IsAnswered();
    });
    CHECK(silent.IsClosed());
    other.Send(call);
    CHECK(other.IsAnswered());
    CHECK(node.server->Stats().refused >= 1);
  }
}

TEST_CASE("scanners above the limit are refused until others are closed") {
  for (const bool of_connection : {false, true}) {
    Thrift2Options options;
    (of_connection ? options.scanners_per_connection_max : options.scanners_max) = 3;
    Node node(options);
    Fill(node.model, 300, 10);
    const auto store = node.Connect();
    std::vector<std::unique_ptr<ScanCursor>> open;
    for (int i = 0; i < 3; ++i) open.push_back(std::move(*store->Scan(All())));
    CHECK(store->Scan(All()).status().code() == StatusCode::kBusy);
    open.clear();
    CHECK(node.server->Stats().scanners == 0);
    CHECK(store->Scan(All()).ok());
  }
}

TEST_CASE("a scanner that nobody uses is closed, and the client continues after its last row") {
  Thrift2Options options;
  options.scanner_idle = milliseconds(20);
  Node node(options);
  Fill(node.model, 300, 10);
  hbase::HbaseOptions client = node.ClientOptions();
  client.deadline_ms = 60'000;  // on a busy machine the scanner may be closed before its first use
  const auto store = Node::Connect(client);
  auto cursor = store->Scan(All());
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  size_t count = 0;
  do {
    REQUIRE((*cursor)->Next(&rows).ok());
    count += rows.size();
    WaitUntil([&] { return node.server->Stats().scanners == 0; });
  } while (!rows.empty());
  CHECK(count == 300);
}

TEST_CASE("an idle connection and an unfinished request are ended after the idle time") {
  Thrift2Options options;
  options.idle = milliseconds(50);
  const Node node(options);
  const RawClient silent(node), slow(node);
  slow.Send(Call("get"));
  CHECK(silent.IsClosed());
  CHECK(slow.IsClosed());
}

TEST_CASE("a client that reads a large response too slowly is disconnected") {
  Thrift2Options options;
  options.idle = milliseconds(500);
  options.message_bytes_max = 4 << 20;
  Node node(options);
  constexpr int kCells = 40;
  for (int i = 0; i < kCells; ++i) {
    const Bytes name = "q" + std::to_string(i);
    REQUIRE(node.model.Mutate("g", {{"k", {PutCell("a", name, Bytes(1 << 20, 'v'))}}}).ok());
  }
  const RawClient client(node, 64 << 10);
  client.Send(Call("get") + FieldHead(kString, 1) + Big(1, 4) + "g" + FieldHead(kStruct, 2) +
              FieldHead(kString, 1) + Big(1, 4) + "k" + Bytes(2, '\0'));
  REQUIRE(client.IsAnswered());
  // The client reads some bytes in each idle time, but fewer than a request may have.
  ssize_t read = 0, some = 1;
  while (node.server->Stats().connections == 1 && (some = client.Read(16 << 10)) > 0) {
    read += some;
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK(read < kCells / 2 << 20);
  WaitUntil([&] { return node.server->Stats().memory_bytes == 0; });
}

TEST_CASE("a response above the limit fails, and a client of the store fetches fewer rows") {
  Thrift2Options options;
  options.response_bytes_max = 100'000;
  Node node(options);
  Fill(node.model, 100, 5000);
  const auto store = node.Connect();
  Status status;
  CHECK(CountRows(*store, &status) == 100);
  CHECK(status.ok());
  std::vector<Bytes> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("k00" + std::to_string(10 + i % 90));
  const auto rows = store->GetRows("g", keys, {});
  CHECK(rows[0].status().code() == StatusCode::kLimitExceeded);
  // Nothing stays charged.
  WaitUntil([&] { return node.server->Stats().memory_bytes == 0; });
}

TEST_CASE("a call that reads for too long ends") {
  class EndlessStore : public ModelStore {
   public:
    Result<Row> GetCells(const std::string&, ByteView, const CellSelection& wanted) override {
      for (;;) RETURN_IF_ERROR(wanted.context->Step(1000));
    }
  };
  EndlessStore endless;
  REQUIRE(endless.CreateTable(kTable).ok());
  Thrift2Options options;
  options.call_time = milliseconds(20);
  auto server = Thrift2Server::Start([&]() -> Store& { return endless; }, options);
  REQUIRE(server.ok());
  hbase::HbaseOptions client;
  client.gateways = {{"127.0.0.1", (*server)->port()}};
  client.deadline_ms = 1;
  auto store = hbase::HbaseStore::Connect(client);
  REQUIRE(store.ok());
  const Status late = (*store)->GetCells("g", "k", {}).status();
  CHECK(late.message().find("callTimeout") != std::string_view::npos);
}

TEST_CASE("a stop ends idle connections, unfinished requests and running reads at once") {
  class EndlessStore : public ModelStore {
   public:
    Result<Row> GetCells(const std::string&, ByteView, const CellSelection& wanted) override {
      reading = true;
      for (;;) RETURN_IF_ERROR(wanted.context->Step(1));
    }
    std::atomic<bool> reading{false};
  };
  EndlessStore endless;
  REQUIRE(endless.CreateTable(kTable).ok());
  auto server = Thrift2Server::Start([&]() -> Store& { return endless; }, {});
  REQUIRE(server.ok());
  hbase::HbaseOptions options;
  options.gateways = {{"127.0.0.1", (*server)->port()}};
  options.deadline_ms = 1;
  auto store = hbase::HbaseStore::Connect(options);
  REQUIRE(store.ok());
  std::thread reader([&] { (void)(*store)->GetCells("g", "k", {}); });
  WaitUntil([&] { return endless.reading.load(); });
  (*server)->Stop();
  reader.join();
  CHECK((*server)->Stats().connections == 0);
  CHECK((*store)->Increment("g", "k", "a", "n", 1).status().code() == StatusCode::kUnavailable);
}

TEST_CASE(
    "the server reports changed rows, but not after a put of one column with the condition that "
    "this column is absent") {
  std::mutex mutex;
  std::vector<std::string> changed;
  Thrift2Options options;
  options.changed = [&](const std::string& table, const std::vector<RowMutation>& rows) {
    const std::lock_guard lock(mutex);
    for (const RowMutation& row : rows) changed.push_back(table + " " + row.key);
  };
  const Node node(options);
  const auto store = node.Connect();
  REQUIRE(store->Mutate("g", {{"put", {PutCell("a", "q", "1")}}}).ok());
  REQUIRE(*store->CompareAndMutate("a", "q", std::nullopt, "g", {"new", {PutCell("a", "q", "1")}}));
  REQUIRE(*store->CompareAndMutate("a", "q", "1", "g", {"new", {PutCell("a", "q", "2")}}));
  const RowMutation two{"put", {PutCell("a", "p", "1"), PutCell("a", "q", "2")}};
  REQUIRE(*store->CompareAndMutate("a", "p", std::nullopt, "g", two));
  REQUIRE(store->DeleteRow("g", "put").ok());
  REQUIRE(store->DropTable("g").ok());
  const std::lock_guard lock(mutex);
  CHECK(changed == std::vector<std::string>{"g put", "g new", "g put", "g put", "g "});
}

TEST_CASE("only a server on a loopback address cannot be reached by other machines") {
  ModelStore model;
  const auto start = [&](const std::string& bind) {
    Thrift2Options options;
    options.bind = bind;
    return Thrift2Server::Start([&]() -> Store& { return model; }, options);
  };
  CHECK_FALSE((*start("127.0.0.1"))->reached_by_others());
  CHECK_FALSE((*start("127.1.2.3"))->reached_by_others());
  CHECK((*start("0.0.0.0"))->reached_by_others());
  CHECK(start("localhost").status().code() == StatusCode::kInvalidArgument);
  Thrift2Options taken;
  const auto first = start("127.0.0.1");
  taken.port = (*first)->port();
  CHECK(Thrift2Server::Start([&]() -> Store& { return model; }, taken).status().code() ==
        StatusCode::kIoError);
}

// Tables of points do not store the times of deletes. Row compaction over HBase deletes the cells
// that it has read, with their times.
TEST_CASE("in a table of points a delete with a time deletes what is not newer") {
  EmbeddedSubject engine(KeyLayout{}, {{"points", {{"t"}}, true}}, 1'000'000);
  auto server = Thrift2Server::Start([&]() -> Store& { return engine.store(); }, {});
  REQUIRE(server.ok());
  hbase::HbaseOptions options;
  options.gateways = {{"127.0.0.1", (*server)->port()}};
  auto store = hbase::HbaseStore::Connect(options);
  REQUIRE(store.ok());
  CHECK((*store)->DescribeTable("points")->points);
  Bytes tsuid;
  for (int id = 0; id < 3; ++id) AppendBig(&tsuid, 1, 3);
  const Bytes key = codec::MakeRowKey(KeyLayout(), tsuid, 1356998400);
  const Bytes qualifier("\0\x10", 2);  // one second after the hour, one byte
  REQUIRE((*store)->Mutate("points", {{key, {PutCell("t", qualifier, "\7")}}}).ok());
  const Row row = *(*store)->Get("points", key);
  REQUIRE(row.cells.size() == 1);
  const int64_t time = row.cells[0].timestamp_ms;
  CellChange gone = DeleteColumn("t", qualifier);
  gone.timestamp_ms = time - 1;
  REQUIRE((*store)->Mutate("points", {{key, {gone}}}).ok());
  CHECK((*store)->Get("points", key)->cells == row.cells);
  REQUIRE(*(*store)->MutateIfUnchanged("t", row.cells, "points",
                                       {key, {DeleteColumn("t", qualifier)}}));
  CHECK((*store)->Get("points", key)->empty());
}

}  // namespace
}  // namespace hg::thrift2
