// The cell store over a socket, with the embedded store behind it.
#include "storage/local/local_store.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <new>
#include <thread>

#include "storage/local/local_maintenance.h"
#include "storage/local/local_server.h"
#include "tests/storage/engine/embedded_subject.h"
#include "tests/storage/store_contract.h"
#include "tests/support/model_store.h"

namespace hg::local {
namespace {

/// A folder whose path is longer than the address of a socket may be. Removed with the object.
class LongFolder {
 public:
  LongFolder()
      : top_(std::filesystem::temp_directory_path() /
             ("local_store_test." + std::to_string(getpid()) + "." + std::to_string(++count_))) {
    std::filesystem::create_directories(path());
  }
  ~LongFolder() { std::filesystem::remove_all(top_); }
  LongFolder(const LongFolder&) = delete;
  LongFolder& operator=(const LongFolder&) = delete;
  [[nodiscard]] std::string path() const { return top_ / std::string(120, 'x'); }

 private:
  static inline int count_ = 0;
  const std::filesystem::path top_;
};

/// An embedded store, a server for it and a client of the server.
class SocketSubject : public StoreSubject {
 public:
  explicit SocketSubject(size_t connections_max = 64, size_t answer_bytes_max = kAnswerBytesMax)
      : engine_(KeyLayout{}, {{"unused", {{"t"}}, true}}, 1'000'000) {
    LocalServerOptions options;
    options.folder = folder_.path();
    options.connections_max = connections_max;
    options.answer_bytes_max = answer_bytes_max;
    options.changed = [this](const std::string& table, const std::vector<RowMutation>& rows) {
      for (const RowMutation& row : rows)
        changed.push_back(table + " " + row.key + " " + std::to_string(row.changes.size()));
    };
    auto started = LocalServer::Start([this]() -> Store& { return engine_.store(); }, options);
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server_ = std::move(*started);
    auto connected = LocalStore::Connect(folder_.path(), KeyLayout{});
    INFO(connected.status().ToString());
    REQUIRE(connected.ok());
    store_ = std::move(*connected);
  }
  ~SocketSubject() override {
    store_.reset();
    server_->Stop();
  }

  Store& store() override { return *store_; }
  ManualClock& clock() override { return engine_.clock(); }
  void Disturb() override { engine_.Disturb(); }

  LocalServer& server() { return *server_; }
  [[nodiscard]] std::string folder() const { return folder_.path(); }
  std::vector<std::string> changed;  // "TABLE KEY CHANGES"

 private:
  const LongFolder folder_;
  EmbeddedSubject engine_;
  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<Store> store_;
};

TEST_CASE("the cell store over a socket fulfils the contract of the cell store") {
  CheckStoreContract([] { return std::make_unique<SocketSubject>(); });
}

TEST_CASE("the cell store over a socket fulfils the contract for reading") {
  CheckReadContract([] { return std::make_unique<SocketSubject>(); });
}

TEST_CASE("only the current user may use the socket, which is removed with the server") {
  SocketSubject subject;
  const std::filesystem::path socket = subject.folder() + "/SOCKET";
  const auto status = std::filesystem::status(socket);
  CHECK(status.type() == std::filesystem::file_type::socket);
  CHECK((status.permissions() & std::filesystem::perms(0777)) == std::filesystem::perms(0600));
  subject.server().Stop();
  CHECK_FALSE(std::filesystem::exists(socket));
  CHECK(LocalStore::Connect(subject.folder(), {}).status().code() == StatusCode::kNotFound);
  CHECK(subject.store().ListTables().status().code() == StatusCode::kUnavailable);
}

TEST_CASE("only the own user and root may connect") {
  CHECK(IsOwnUserOrRoot(::geteuid()));
  CHECK(IsOwnUserOrRoot(0));
  CHECK_FALSE(IsOwnUserOrRoot(::geteuid() + 1));
  SocketSubject subject;
  const LongFolder folder;
  std::atomic<int64_t> asked{-1};
  LocalServerOptions options;
  options.folder = folder.path();
  std::filesystem::create_directories(options.folder);
  options.lets_in = [&asked](unsigned user) {
    asked = user;
    return false;
  };
  const auto server = LocalServer::Start([&]() -> Store& { return subject.store(); }, options);
  REQUIRE(server.ok());
  CHECK_FALSE(LocalStore::Connect(options.folder, KeyLayout{}).ok());
  CHECK(asked == ::geteuid());
}

TEST_CASE(
    "a client with another key layout is refused, and a new server replaces the socket of "
    "an earlier one") {
  KeyLayout salted;
  salted.salt_width = 1;
  SocketSubject subject;
  CHECK(LocalStore::Connect(subject.folder(), salted).status().code() ==
        StatusCode::kInvalidArgument);
  auto second = LocalServer::Start([&]() -> Store& { return subject.store(); },
                                   {.folder = subject.folder(), .layout = {}});
  REQUIRE(second.ok());
  CHECK(LocalStore::Connect(subject.folder(), {}).ok());
}

TEST_CASE("the end of the server ends an open scan, and other calls are served during the scan") {
  SocketSubject subject;
  REQUIRE(subject.store().CreateTable({"t", {{"f"}}}).ok());
  for (const char* key : {"a", "b", "c"})
    REQUIRE(subject.store().Mutate("t", {{key, {PutCell("f", "q", "v")}}}).ok());
  ScanSpec spec;
  spec.table = "t";
  spec.batch_rows = 1;
  auto cursor = subject.store().Scan(spec);
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  REQUIRE((*cursor)->Next(&rows).ok());
  CHECK(rows.size() == 1);
  CHECK(subject.store().ListTables().ok());
  subject.server().Stop();
  CHECK((*cursor)->Next(&rows).code() == StatusCode::kUnavailable);
}

TEST_CASE("connections beyond the maximum are closed, and the others continue") {
  SocketSubject subject(2);  // the subject's own client uses one of them
  {
    auto second = LocalStore::Connect(subject.folder(), {});
    REQUIRE(second.ok());
    CHECK(LocalStore::Connect(subject.folder(), {}).status().code() == StatusCode::kUnavailable);
    CHECK((*second)->ListTables().ok());
  }
  CHECK(subject.store().ListTables().ok());
}

/// A connection on which the test sends bytes itself.
Channel Greeted(const SocketSubject& subject) {
  auto channel = Connect(subject.folder());
  REQUIRE(channel.ok());
  REQUIRE(channel->Send(Packer().Put(kProtocol, std::optional(KeyLayout())).Take()).ok());
  REQUIRE(ReadAnswer(channel->Receive(kAnswerBytesMax)).ok());
  return std::move(*channel);
}

void PutRows(Store& store, int rows, size_t value_bytes) {
  REQUIRE(store.CreateTable({"t", {{"f"}}}).ok());
  for (int i = 0; i < rows; ++i) {
    const Bytes value(value_bytes, 'v');
    REQUIRE(store.Mutate("t", {{"row" + std::to_string(i), {PutCell("f", "q", value)}}}).ok());
  }
}

TEST_CASE("a client that disconnects during a scan makes its connection available to others") {
  SocketSubject subject(2);  // the subject's own client uses one of them
  PutRows(subject.store(), 10, 100'000);
  ScanSpec spec;
  spec.table = "t";
  spec.batch_rows = 1;
  for (int i = 0; i < 20; ++i) {
    auto client = LocalClient::Connect(subject.folder(), KeyLayout());
    // The thread of the previous connection is about to end.
    while (!client.ok()) client = LocalClient::Connect(subject.folder(), KeyLayout());
    REQUIRE(ReadAnswer(client->Ask(Request(Call::kScan, spec))).ok());
    REQUIRE(ReadAnswer(client->Ask(Request(Call::kNext))).ok());
  }
  CHECK(subject.store().ListTables().ok());
}

TEST_CASE("a stop of the server ends running reads") {
  class EndlessStore : public ModelStore {
   public:
    Status Read(const CellSelection& wanted) {
      reading = true;
      while (wanted.context != nullptr) RETURN_IF_ERROR(wanted.context->Step(1));
      return Status::IoError("nothing can end this read");
    }
    Result<Row> GetCells(const std::string&, ByteView, const CellSelection& wanted) override {
      return Read(wanted);
    }
    Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override { return Read(spec); }
    std::atomic<bool> reading{false};
  };
  ScanSpec spec;
  spec.table = "t";
  const std::function<Status(Store&)> reads[] = {
      [](Store& store) { return store.GetCells("t", "k", {}).status(); },
      [](Store& store) { return store.GetRows("t", {"k"}, {})[0].status(); },
      [&](Store& store) { return store.Scan(spec).status(); }};
  for (const auto& read : reads) {
    const LongFolder folder;
    EndlessStore endless;
    LocalServerOptions options;
    options.folder = folder.path();
    auto server = LocalServer::Start([&]() -> Store& { return endless; }, options);
    REQUIRE(server.ok());
    auto store = LocalStore::Connect(folder.path(), KeyLayout{});
    REQUIRE(store.ok());
    Status outcome;
    std::thread reader([&] { outcome = read(**store); });
    while (!endless.reading) std::this_thread::yield();
    (*server)->Stop();
    reader.join();
    CHECK(outcome.code() == StatusCode::kUnavailable);
  }
}

TEST_CASE("a stop of the server does not wait for a client that never reads") {
  SocketSubject subject;
  PutRows(subject.store(), 30, 1'000'000);
  Channel channel = Greeted(subject);
  ScanSpec spec;
  spec.table = "t";
  REQUIRE(channel.Send(Request(Call::kScan, spec)).ok());
  for (int i = 0; i < 5; ++i) REQUIRE(channel.Send(Request(Call::kNext)).ok());
  CHECK(subject.store().ListTables().ok());
  subject.server().Stop();
}

TEST_CASE(
    "a fetch is limited whatever a client requests, and a response that is too large is refused") {
  SocketSubject subject(64, 2'000'000);
  PutRows(subject.store(), 3, 1'000'000);
  const auto rows = subject.store().GetRows("t", {"row0", "row1", "row2"}, {});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].status().code() == StatusCode::kLimitExceeded);
  CHECK(subject.store().Get("t", "row0").ok());
  ScanSpec spec;
  spec.table = "t";
  auto cursor = subject.store().Scan(spec);
  REQUIRE(cursor.ok());
  std::vector<Row> fetched;
  CHECK((*cursor)->Next(&fetched).code() == StatusCode::kLimitExceeded);
  SocketSubject roomy;
  PutRows(roomy.store(), 10, 1'000'000);
  cursor = roomy.store().Scan(spec);
  REQUIRE(cursor.ok());
  REQUIRE((*cursor)->Next(&fetched).ok());
  CHECK(fetched.size() == 5);  // the row that reaches 4 MiB is included
}

TEST_CASE("a greeting with too many bytes is not read further") {
  SocketSubject subject;
  auto channel = Connect(subject.folder());
  REQUIRE(channel.ok());
  // The server may close the connection before all bytes are sent.
  const Status sent = channel->Send(Bytes(kGreetingBytesMax + 1, 'x'));
  const Status refused = sent.ok() ? channel->Receive(kAnswerBytesMax).status() : sent;
  CHECK(refused.code() == StatusCode::kUnavailable);
}

TEST_CASE("a client with another protocol version is refused, with both versions in the error") {
  SocketSubject subject;
  auto channel = Connect(subject.folder());
  REQUIRE(channel.ok());
  // The bytes after the version may differ in other versions.
  REQUIRE(channel->Send(Packer().Put(kProtocol + 1, Bytes("?")).Take()).ok());
  const Status refused = ReadAnswer(channel->Receive(kAnswerBytesMax));
  CHECK(refused.code() == StatusCode::kUnsupported);
  CHECK(refused.message().find("version " + std::to_string(kProtocol)) != std::string_view::npos);
  CHECK(refused.message().find(std::to_string(kProtocol + 1)) != std::string_view::npos);
}

TEST_CASE("a client that sends invalid data is disconnected, and others are not") {
  SocketSubject subject;
  for (const Bytes& frame : {Bytes(), Bytes("\xFF\xFF"), Bytes(100, '\x01')}) {
    auto channel = Connect(subject.folder());
    REQUIRE(channel.ok());
    REQUIRE(channel->Send(frame).ok());
    const auto answer = channel->Receive(kAnswerBytesMax);
    // The server sends nothing, or an error for data that it has read as a greeting.
    if (answer.ok()) {
      Status status;
      REQUIRE(Unpacker(*answer).Get(&status));
      CHECK_FALSE(status.ok());
    }
  }
  CHECK(subject.store().ListTables().ok());
}

TEST_CASE("the daemon is informed of changes of cached data, by table and row") {
  SocketSubject subject;
  Store& store = subject.store();
  REQUIRE(store.CreateTable({"t", {{"f"}}}).ok());
  const RowMutation put{"a", {PutCell("f", "q", "v")}};
  REQUIRE(store.CompareAndMutate("f", "q", {}, "t", put).ok());
  REQUIRE(store.Increment("t", "n", "f", "q", 1).ok());
  CHECK(subject.changed.empty());
  REQUIRE(store.CompareAndMutate("f", "q", Bytes("v"), "t", put).ok());
  REQUIRE(store.Mutate("t", {put, {"b", {DeleteColumn("f", "q"), DeleteColumn("f", "r")}}}).ok());
  REQUIRE(store.DeleteRow("t", "a").ok());
  REQUIRE(store.DropTable("t").ok());
  CHECK(subject.changed == std::vector<std::string>{"t a 1", "t a 1", "t b 2", "t a 0", "t  0"});
}

TEST_CASE("the daemon is also informed if the store throws, because rows may have changed before") {
  SocketSubject subject;
  REQUIRE(subject.store().CreateTable({"t", {{"f"}}}).ok());
  std::mutex mutex;
  std::vector<std::string> changed;  // guarded by mutex, because each connection has a thread
  LocalServerOptions options;
  options.folder = subject.folder();
  options.changed = [&](const std::string& table, const std::vector<RowMutation>& rows) {
    const std::lock_guard lock(mutex);
    changed.push_back(table + " " + rows.at(0).key);
  };
  std::atomic<bool> throwing{false};
  const auto door = [&]() -> Store& {
    if (throwing) throw std::bad_alloc();
    return subject.store();
  };
  const auto server = LocalServer::Start(door, options);
  REQUIRE(server.ok());
  const RowMutation put{"a", {PutCell("f", "q", "v")}};
  const auto throws = [&](const auto& call) {
    auto store = LocalStore::Connect(subject.folder(), {});
    REQUIRE(store.ok());
    throwing = true;
    CHECK_FALSE(call(**store).ok());
    throwing = false;
  };
  throws([&](Store& store) { return store.Mutate("t", {put}); });
  throws([&](Store& store) { return store.DeleteRow("t", "b"); });
  throws([&](Store& store) { return store.CompareAndMutate("f", "q", {}, "t", put).status(); });
  throws([&](Store& store) {
    return store.CompareAndMutate("f", "q", Bytes("v"), "t", put).status();
  });
  throws([&](Store& store) { return store.MutateIfUnchanged("f", {}, "t", put).status(); });
  throws([&](Store& store) { return store.DropTable("t"); });
  (*server)->Stop();
  CHECK(changed == std::vector<std::string>{"t a", "t b", "t a", "t a", "t "});
}

/// Copies three files, or until it is stopped.
class ThreeFiles : public Maintenance {
 public:
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) override {
    asked_for = folder;
    progress_ = {};
    for (progress_.files = 1; progress_.files <= 3; ++progress_.files)
      if (!watch(progress_)) return Status::Unavailable("stopped by the watch");
    progress_.files_total = 3;
    return progress_;
  }
  [[nodiscard]] CopyProgress BackupProgress() const override { return progress_; }
  Result<CheckReport> Check(RequestContext* /*context*/) override {
    CheckReport report;
    report.files = 3;
    report.damages.push_back({"data/000000001.points", 40, "checksum of a block differs", "rows"});
    report.notes = {"a note"};
    return report;
  }
  Result<RepairReport> Repair() override {
    return RepairReport{{"000000001.points is set aside"}, {"rows"}};
  }
  std::string asked_for;

 private:
  CopyProgress progress_;
};

TEST_CASE(
    "the daemon does backups, checks and repairs also for clients that do not know its layout") {
  SocketSubject subject;
  ThreeFiles files;
  KeyLayout salted;
  salted.salt_width = 1;
  auto server =
      LocalServer::Start([&]() -> Store& { return subject.store(); },
                         {.folder = subject.folder(), .layout = salted, .maintenance = &files});
  REQUIRE(server.ok());
  LocalMaintenance maintenance(subject.folder());
  std::vector<uint64_t> seen;
  const auto done = maintenance.Backup("/b", [&](const CopyProgress& progress) {
    seen.push_back(progress.files);
    return true;
  });
  REQUIRE(done.ok());
  CHECK(done->files_total == 3);
  CHECK(seen == std::vector<uint64_t>{1, 2, 3});
  CHECK(files.asked_for == "/b");
  CHECK(maintenance.BackupProgress().files_total == 3);
  CHECK(maintenance.Backup("/b", [](const CopyProgress&) { return false; }).status().code() ==
        StatusCode::kUnavailable);
  const auto report = maintenance.Check(nullptr);
  REQUIRE(report.ok());
  CHECK(report->files == 3);
  REQUIRE(report->damages.size() == 1);
  CHECK(report->damages[0].ToString() ==
        "data/000000001.points at 40: checksum of a block differs; lost: rows");
  CHECK(report->notes == std::vector<std::string>{"a note"});
  const auto repaired = maintenance.Repair();
  REQUIRE(repaired.ok());
  CHECK(repaired->done == std::vector<std::string>{"000000001.points is set aside"});
  CHECK(repaired->lost == std::vector<std::string>{"rows"});
  (*server)->Stop();
  CHECK(maintenance.Check(nullptr).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a store without files reports that, and a client without a layout gets no cells") {
  SocketSubject subject;
  LocalMaintenance maintenance(subject.folder());
  CHECK(maintenance.Check(nullptr).status().code() == StatusCode::kUnsupported);
  CHECK(maintenance.Repair().status().code() == StatusCode::kUnsupported);
  CHECK(maintenance.Backup("/b", {}).status().code() == StatusCode::kUnsupported);
  auto client = LocalClient::Connect(subject.folder(), {});
  REQUIRE(client.ok());
  CHECK(client->Ask(Request(Call::kListTables)).status().code() == StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hg::local
