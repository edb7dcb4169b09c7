// The cells door over a socket, with the embedded store behind it.
#include "storage/local/local_store.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <new>

#include "storage/local/local_maintenance.h"
#include "storage/local/local_server.h"
#include "tests/storage/engine/embedded_subject.h"
#include "tests/storage/store_contract.h"

namespace hg::local {
namespace {

/// A folder whose path is longer than a socket's address may be. Gone with the object.
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

/// An embedded store, a server over it and a client of that.
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

TEST_CASE("the cells door over a socket keeps the contract of the door") {
  CheckStoreContract([] { return std::make_unique<SocketSubject>(); });
}

TEST_CASE("and that of its readers") {
  CheckReadContract([] { return std::make_unique<SocketSubject>(); });
}

TEST_CASE("the socket is this user's alone, and goes with the server") {
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

TEST_CASE("who connects is asked for his user, and nobody but the own one and root is let in") {
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

TEST_CASE("another layout is refused, and a second server takes the place of a dead one's socket") {
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

TEST_CASE("an open scan ends with the server, and others are answered meanwhile") {
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

TEST_CASE("more connections than there may be are closed, the others go on") {
  SocketSubject subject(2);  // one is the subject's
  {
    auto second = LocalStore::Connect(subject.folder(), {});
    REQUIRE(second.ok());
    CHECK(LocalStore::Connect(subject.folder(), {}).status().code() == StatusCode::kUnavailable);
    CHECK((*second)->ListTables().ok());
  }
  CHECK(subject.store().ListTables().ok());
}

/// A connection that is spoken to by hand.
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

TEST_CASE("who goes in the middle of a scan leaves his place to others") {
  SocketSubject subject(2);  // one is the subject's
  PutRows(subject.store(), 10, 100'000);
  ScanSpec spec;
  spec.table = "t";
  spec.batch_rows = 1;
  for (int i = 0; i < 20; ++i) {
    auto client = LocalClient::Connect(subject.folder(), KeyLayout());
    // The thread of the one before is about to end.
    while (!client.ok()) client = LocalClient::Connect(subject.folder(), KeyLayout());
    REQUIRE(ReadAnswer(client->Ask(Request(Call::kScan, spec))).ok());
    REQUIRE(ReadAnswer(client->Ask(Request(Call::kNext))).ok());
  }
  CHECK(subject.store().ListTables().ok());
}

TEST_CASE("the end does not wait for who asks and never reads") {
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
    "a fetch is bounded however much is asked for, and an answer that is too large is refused") {
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
  CHECK(fetched.size() == 5);  // the one that makes it 4 MiB is in
}

TEST_CASE("more bytes than a greeting has are not waited for") {
  SocketSubject subject;
  auto channel = Connect(subject.folder());
  REQUIRE(channel.ok());
  REQUIRE(channel->Send(Bytes(kGreetingBytesMax + 1, 'x')).ok());
  CHECK(channel->Receive(kAnswerBytesMax).status().code() == StatusCode::kUnavailable);
}

TEST_CASE("another version is refused, and both are named") {
  SocketSubject subject;
  auto channel = Connect(subject.folder());
  REQUIRE(channel.ok());
  // What follows the version may look otherwise there.
  REQUIRE(channel->Send(Packer().Put(kProtocol + 1, Bytes("?")).Take()).ok());
  const Status refused = ReadAnswer(channel->Receive(kAnswerBytesMax));
  CHECK(refused.code() == StatusCode::kUnsupported);
  CHECK(refused.message().find("protocol " + std::to_string(kProtocol)) != std::string_view::npos);
  CHECK(refused.message().find(std::to_string(kProtocol + 1)) != std::string_view::npos);
}

TEST_CASE("who sends what cannot be read is cut off, and nobody else") {
  SocketSubject subject;
  for (const Bytes& frame : {Bytes(), Bytes("\xFF\xFF"), Bytes(100, '\x01')}) {
    auto channel = Connect(subject.folder());
    REQUIRE(channel.ok());
    REQUIRE(channel->Send(frame).ok());
    const auto answer = channel->Receive(kAnswerBytesMax);
    // Nothing, or a refusal of what was taken for a greeting.
    if (answer.ok()) {
      Status status;
      REQUIRE(Unpacker(*answer).Get(&status));
      CHECK_FALSE(status.ok());
    }
  }
  CHECK(subject.store().ListTables().ok());
}

TEST_CASE("the daemon hears of changes of what may be known already, by table and row") {
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

TEST_CASE("it hears of changes though the door throws, as rows may have changed before it did") {
  SocketSubject subject;
  REQUIRE(subject.store().CreateTable({"t", {{"f"}}}).ok());
  std::vector<std::string> changed;
  LocalServerOptions options;
  options.folder = subject.folder();
  options.changed = [&](const std::string& table, const std::vector<RowMutation>& rows) {
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

/// Copies three files, or as far as it is let.
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
  Result<CheckReport> Check() override {
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

TEST_CASE("copies, checks and repairs are the daemon's, without a word of the layout") {
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
  const auto report = maintenance.Check();
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
  CHECK(maintenance.Check().status().code() == StatusCode::kNotFound);
}

TEST_CASE("a store without files says so, and who named no layout gets no cells") {
  SocketSubject subject;
  LocalMaintenance maintenance(subject.folder());
  CHECK(maintenance.Check().status().code() == StatusCode::kUnsupported);
  CHECK(maintenance.Repair().status().code() == StatusCode::kUnsupported);
  CHECK(maintenance.Backup("/b", {}).status().code() == StatusCode::kUnsupported);
  auto client = LocalClient::Connect(subject.folder(), {});
  REQUIRE(client.ok());
  CHECK(client->Ask(Request(Call::kListTables)).status().code() == StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hg::local
