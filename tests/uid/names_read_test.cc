// Names that are found, suggested, visited and cached; caches during renames and deletes.
#include <doctest/doctest.h>

#include <functional>
#include <utility>

#include "storage/model/name_text.h"
#include "tests/support/fake_watch.h"
#include "tests/support/hex.h"
#include "tests/support/model_store.h"
#include "tests/uid/tracing_store.h"
#include "uid/names.h"

namespace hg::uid {
namespace {

using Lines = std::vector<std::string>;

// Calls functions between a read of the store and its use, or before a column is deleted.
class PausingStore final : public ModelStore {
 public:
  PausingStore() { REQUIRE(CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok()); }
  std::function<void()> after_read;     // called once
  std::function<void()> before_delete;  // called once
  std::function<void()> after_put;      // called once, after a put without a condition

  Result<Row> GetCells(const std::string& table, ByteView key,
                       const CellSelection& wanted) override {
    Result<Row> row = ModelStore::GetCells(table, key, wanted);
    if (const auto happens = std::exchange(after_read, nullptr)) happens();
    return row;
  }
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    if (rows[0].changes[0].kind != CellChange::Kind::kPut) {
      if (const auto happens = std::exchange(before_delete, nullptr)) happens();
    }
    std::vector<Status> done = ModelStore::MutateRows(table, rows);
    if (rows[0].changes[0].kind == CellChange::Kind::kPut) {
      if (const auto happens = std::exchange(after_put, nullptr)) happens();
    }
    return done;
  }
};

/// Counts scans and fetches.
class ScannedStore final : public ModelStore {
 public:
  ScannedStore() { REQUIRE(CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok()); }
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override {
    ++scans;
    auto cursor = ModelStore::Scan(spec);
    if (!cursor.ok()) return cursor;
    return std::unique_ptr<ScanCursor>(std::make_unique<Cursor>(*this, std::move(*cursor)));
  }
  int scans = 0;
  size_t rows = 0;

 private:
  class Cursor : public ScanCursor {
   public:
    Cursor(ScannedStore& store, std::unique_ptr<ScanCursor> cursor)
        : store_(store), cursor_(std::move(cursor)) {}
    Status Next(std::vector<Row>* rows) override {
      Status status = cursor_->Next(rows);
      store_.rows += rows->size();
      return status;
    }

   private:
    ScannedStore& store_;
    const std::unique_ptr<ScanCursor> cursor_;
  };
};

TEST_CASE("suggestions come in byte order, of one kind, up to a number") {
  TracingStore store;
  Names names(store, {});
  for (const char* name :
       {"sys.mem", "sys.cpu", "sys", "app", "syz", "~tilde", "ümlaut", " blank"}) {
    REQUIRE(names.FindOrAssign(UidKind::kMetric, name).ok());
  }
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "sys.key").ok());
  CHECK(*names.Suggest(UidKind::kMetric, "sys", 25, nullptr) == Lines{"sys", "sys.cpu", "sys.mem"});
  CHECK(*names.Suggest(UidKind::kMetric, "sys", 2, nullptr) == Lines{"sys", "sys.cpu"});
  CHECK(names.Suggest(UidKind::kMetric, "sys", 0, nullptr)->empty());
  CHECK(names.Suggest(UidKind::kMetric, "nothing", 25, nullptr)->empty());
  CHECK(*names.Suggest(UidKind::kMetric, "", 25, nullptr) ==
        Lines{"app", "sys", "sys.cpu", "sys.mem", "syz"});
  CHECK(*names.Suggest(UidKind::kMetric, "ü", 25, nullptr) == Lines{"ümlaut"});
  CHECK(*names.Suggest(UidKind::kMetric, "~", 25, nullptr) == Lines{"~tilde"});
  // The last byte: the range has no end.
  CHECK(names.Suggest(UidKind::kMetric, "ÿ", 25, nullptr)->empty());
}

TEST_CASE("any number of names is visited by one scan, each once, until the visitor stops") {
  constexpr size_t kNames = 10'000;
  ScannedStore store;
  Names names(store, {});
  for (size_t i = 0; i < kNames; ++i)
    REQUIRE(names.FindOrAssign(UidKind::kMetric, "m" + std::to_string(kNames + i)).ok());
  size_t seen = 0;
  const auto count = [&](const std::string& name) -> Result<bool> {
    CHECK(name == "m" + std::to_string(kNames + seen));
    ++seen;
    return true;
  };
  REQUIRE(names.ForEach(UidKind::kMetric, "m", nullptr, count).ok());
  CHECK(seen == kNames);
  CHECK(store.scans == 1);
  CHECK(store.rows == kNames);
  seen = 0;
  CHECK(names
            .ForEach(UidKind::kMetric, "", nullptr,
                     [&](const std::string&) -> Result<bool> { return ++seen < 3; })
            .ok());
  CHECK(seen == 3);
  const auto fail = [](const std::string&) -> Result<bool> { return Status::Busy("full"); };
  CHECK(names.ForEach(UidKind::kMetric, "m", nullptr, fail).code() == StatusCode::kBusy);
}

// Characters beyond Latin-1 are stored as "?", so both names are stored under the same bytes.
TEST_CASE(
    "names that are stored under the same bytes are listed, and only the known one is renamed") {
  ScannedStore store;
  Names names(store, {});
  const Bytes lambda = *names.FindOrAssign(UidKind::kMetric, "λ");
  std::vector<std::string> seen;
  const auto list = [&](const std::string& name) -> Result<bool> {
    seen.push_back(name);
    return true;
  };
  REQUIRE(names.ForEach(UidKind::kMetric, "?", nullptr, list).ok());
  CHECK(seen == std::vector<std::string>{"λ"});
  CHECK(names.Rename(UidKind::kMetric, "μ", "b").code() == StatusCode::kConflict);
  CHECK(names.Delete(UidKind::kMetric, "μ").code() == StatusCode::kConflict);
  REQUIRE(names.FindOrAssign(UidKind::kMetric, "what?").ok());
  REQUIRE(names.Rename(UidKind::kMetric, "what?", "what").ok());  // does not forget the others
  CHECK(names.Rename(UidKind::kMetric, "μ", "b").code() == StatusCode::kConflict);
  CHECK(*names.Find(UidKind::kMetric, "λ") == lambda);
  CHECK(*names.NameOf(UidKind::kMetric, lambda) == "λ");
  REQUIRE(names.Rename(UidKind::kMetric, "λ", "b").ok());
  CHECK(names.Find(UidKind::kMetric, "μ").status().code() == StatusCode::kNotFound);
  CHECK(*names.Find(UidKind::kMetric, "b") == lambda);
}

TEST_CASE(
    "a rename puts both new mappings and then deletes the old one (opentsdb-schema.md §23.5)") {
  TracingStore store;
  Names names(store, {});
  const Bytes id = *names.FindOrAssign(UidKind::kMetric, "sys.cpu.user");
  REQUIRE(names.FindOrAssign(UidKind::kMetric, "taken").ok());
  store.Trace();
  REQUIRE(names.Rename(UidKind::kMetric, "sys.cpu.user", "sys.cpu.usr").ok());
  CHECK(store.Trace() == Lines{"PUT 000001 name:metrics = 7379732E6370752E757372",
                               "CAS 7379732E6370752E757372 id:metrics := 000001 true",
                               "DEL 7379732E6370752E75736572 id:metrics"});
  CHECK(*names.NameOf(UidKind::kMetric, id) == "sys.cpu.usr");
  CHECK(*names.Find(UidKind::kMetric, "sys.cpu.usr") == id);
  CHECK_FALSE(names.Find(UidKind::kMetric, "sys.cpu.user").ok());

  CHECK(names.Rename(UidKind::kMetric, "nobody", "x").code() == StatusCode::kNotFound);
  const Status taken = names.Rename(UidKind::kMetric, "sys.cpu.usr", "taken");
  CHECK(taken.code() == StatusCode::kConflict);
  CHECK(taken.message() ==
        "When trying rename(\"sys.cpu.usr\", \"taken\") on UniqueId(tsdb-uid, metrics, 3): "
        "new name already assigned ID=[0, 0, 2]");
  CHECK(names.Rename(UidKind::kMetric, "taken", "taken").code() == StatusCode::kConflict);
  CHECK(store.Trace().empty());
}

TEST_CASE(
    "a delete removes both mappings and the metadata, and the name may come back with a new id") {
  TracingStore store;
  Names names(store, {});
  REQUIRE(names.FindOrAssign(UidKind::kTagv, "web01").ok());
  REQUIRE(names.FindOrAssign(UidKind::kTagv, "web02").ok());
  store.Put("000002", "name", "tagv_meta", "7B7D");
  store.Trace();
  REQUIRE(names.Delete(UidKind::kTagv, "web02").ok());
  CHECK(store.Trace() ==
        Lines{"DEL 7765623032 id:tagv", "DEL 000002 name:tagv", "DEL 000002 name:tagv_meta"});
  CHECK_FALSE(names.Find(UidKind::kTagv, "web02").ok());
  CHECK_FALSE(names.NameOf(UidKind::kTagv, Hex("000002")).ok());
  CHECK(names.Delete(UidKind::kTagv, "web02").code() == StatusCode::kNotFound);
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagv, "web02")) == "000003");
  REQUIRE(names.FindOrAssign(UidKind::kMetric, "m").ok());
  store.Trace();
  REQUIRE(names.Delete(UidKind::kMetric, "m").ok());
  CHECK(store.Trace().back() == "DEL 000001 name:metric_meta");
}

TEST_CASE("cached names are found without the store until the caches are dropped") {
  TracingStore store;
  Names names(store, {});
  const Bytes id = *names.FindOrAssign(UidKind::kTagk, "host");
  REQUIRE(store.DeleteRow("tsdb-uid", "host").ok());
  REQUIRE(store.DeleteRow("tsdb-uid", id).ok());
  CHECK(*names.Find(UidKind::kTagk, "host") == id);
  CHECK(*names.NameOf(UidKind::kTagk, id) == "host");
  CHECK(names.Stats(UidKind::kTagk).size == 2);
  CHECK(names.Stats(UidKind::kTagk).hits == 2);
  CHECK(names.Stats(UidKind::kTagk).misses == 1);
  names.DropCaches();
  CHECK_FALSE(names.Find(UidKind::kTagk, "host").ok());
  CHECK_FALSE(names.NameOf(UidKind::kTagk, id).ok());
  CHECK(names.Stats(UidKind::kTagk).size == 0);
}

TEST_CASE("new names fall out of a full cache, and are found again in the store with their ids") {
  TracingStore store;
  NamesOptions options;
  options.cache.bytes_max = 20'000;
  options.cache.charged = std::make_shared<std::atomic<uint64_t>>(0);
  Names names(store, options);
  std::vector<Bytes> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.push_back(*names.FindOrAssign(UidKind::kTagv, "pod-" + std::to_string(i)));
    REQUIRE(*options.cache.charged <= 21'000);
  }
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    bool assigned = false;
    REQUIRE(*names.FindOrAllow(UidKind::kTagv, name) == ids[i]);
    REQUIRE(*names.FindOrAssign(UidKind::kTagv, name, &assigned) == ids[i]);
    REQUIRE_FALSE(assigned);
    REQUIRE(*names.NameOf(UidKind::kTagv, ids[i]) == name);
    REQUIRE(*options.cache.charged <= 21'000);
  }
  CHECK(*names.HighestId(UidKind::kTagv) == 1000);
}

TEST_CASE("a name that fell out of the cache after it was allowed keeps its id") {
  TracingStore store;
  NamesOptions options;
  options.cache.ids_max = options.cache.names_max = 2;
  Names names(store, options);
  REQUIRE_FALSE(names.FindOrAllow(UidKind::kTagv, "a")->has_value());
  const Bytes id = *names.FindOrAssign(UidKind::kTagv, "a");  // by another thread
  for (const char* name : {"b", "c", "d"}) REQUIRE(names.FindOrAssign(UidKind::kTagv, name).ok());
  CHECK(*names.AssignAllowed(UidKind::kTagv, "a") == id);
  CHECK(*names.Find(UidKind::kTagv, "a") == id);
}

TEST_CASE("preloaded names are known without the store, up to the requested number of rows") {
  TracingStore store;
  Names writer(store, {});
  for (const char* name : {"a", "b", "c"}) REQUIRE(writer.FindOrAssign(UidKind::kTagk, name).ok());
  REQUIRE(writer.FindOrAssign(UidKind::kTagv, "a").ok());
  Names reader(store, {});
  REQUIRE(reader.Preload(2).ok());
  CHECK(reader.Stats(UidKind::kTagk).size == 4);
  CHECK(reader.Stats(UidKind::kTagv).size == 2);
  CHECK(reader.Find(UidKind::kTagk, "b").ok());
  CHECK(reader.Stats(UidKind::kTagk).misses == 0);
  CHECK(reader.Find(UidKind::kTagk, "c").ok());
  CHECK(reader.Stats(UidKind::kTagk).misses == 1);
}

TEST_CASE("all names of every kind are visited with their ids, and none is cached") {
  TracingStore store;
  Names writer(store, {});
  REQUIRE(writer.FindOrAssign(UidKind::kTagk, "host").ok());
  REQUIRE(writer.FindOrAssign(UidKind::kTagv, "host").ok());
  REQUIRE(writer.FindOrAssign(UidKind::kMetric, "cpu").ok());
  REQUIRE(writer.FindOrAssign(UidKind::kTagv, "a").ok());
  NamesOptions wider;
  wider.layout.metric_width = 4;
  for (const bool of_width : {true, false}) {
    Names reader(store, of_width ? NamesOptions() : wider);
    std::vector<std::string> seen;
    const auto visit = [&](UidKind kind, const std::string& name, ByteView id) {
      seen.push_back(name + " " + std::string(UidKindName(kind)) + " " + ToHex(id));
      return true;
    };
    REQUIRE(reader.ForEachId(visit).ok());
    std::vector<std::string> all = {"a tagv 000002", "cpu metrics 000001", "host tagk 000001",
                                    "host tagv 000001"};
    if (!of_width) all.erase(all.begin() + 1);
    CHECK(seen == all);
    CHECK(reader.Stats(UidKind::kTagv).size == 0);
  }
  size_t visited = 0;
  REQUIRE(writer.ForEachId([&](auto&&...) { return ++visited < 2; }).ok());
  CHECK(visited == 2);
}

TEST_CASE("a visit of all names does not fill the store's cache") {
  struct ScannedStore : ModelStore {
    Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override {
      fills_cache = spec.fill_cache;
      return ModelStore::Scan(spec);
    }
    bool fills_cache = false;
  };
  ScannedStore store;
  REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
  Names names(store, {});
  REQUIRE(names.Suggest(UidKind::kTagk, "", 10, nullptr).ok());
  CHECK(store.fills_cache);
  REQUIRE(names.ForEachId([](auto&&...) { return true; }).ok());
  CHECK_FALSE(store.fills_cache);
}

TEST_CASE("data read before a rename or delete is not cached after it") {
  for (const bool renames : {true, false}) {
    CAPTURE(renames);
    for (const bool by_id : {true, false}) {
      CAPTURE(by_id);
      PausingStore store;
      const Bytes id = *Names(store, {}).FindOrAssign(UidKind::kMetric, "old");
      Names names(store, {});
      store.after_read = [&] {
        REQUIRE((renames ? names.Rename(UidKind::kMetric, "old", "new")
                         : names.Delete(UidKind::kMetric, "old"))
                    .ok());
      };
      // The result is that of the read, which was before the rename or delete.
      if (by_id) {
        CHECK(*names.NameOf(UidKind::kMetric, id) == "old");
      } else {
        CHECK(*names.Find(UidKind::kMetric, "old") == id);
      }
      CHECK(names.Find(UidKind::kMetric, "old").status().code() == StatusCode::kNotFound);
      const Result<std::string> name = names.NameOf(UidKind::kMetric, id);
      CHECK(name.ok() == renames);
      if (name.ok()) CHECK(*name == "new");
    }
  }
}

TEST_CASE("a name that is renamed or deleted as soon as it has an id is not cached with this id") {
  for (const bool renames : {true, false}) {
    CAPTURE(renames);
    TracingStore store;
    Names* all = nullptr;
    NamesOptions options;
    bool first = true;
    options.assigned = [&](UidKind kind, ByteView, Store&) {
      if (!std::exchange(first, false)) return;
      REQUIRE((renames ? all->Rename(kind, "old", "new") : all->Delete(kind, "old")).ok());
    };
    Names names(store, options);
    all = &names;
    const Bytes id = *names.FindOrAssign(UidKind::kMetric, "old");
    CHECK(names.Find(UidKind::kMetric, "old").status().code() == StatusCode::kNotFound);
    CHECK(names.NameOf(UidKind::kMetric, id).ok() == renames);
    const Result<Bytes> next = names.FindOrAssign(UidKind::kMetric, "old");
    REQUIRE(next.ok());
    CHECK(*next != id);
  }
}

TEST_CASE("a request for a name during its rename or delete does not cache the old state") {
  for (const bool renames : {true, false}) {
    CAPTURE(renames);
    PausingStore store;
    Names names(store, {});
    const Bytes id = *names.FindOrAssign(UidKind::kMetric, "old");
    store.before_delete = [&] { CHECK(*names.Find(UidKind::kMetric, "old") == id); };
    REQUIRE((renames ? names.Rename(UidKind::kMetric, "old", "new")
                     : names.Delete(UidKind::kMetric, "old"))
                .ok());
    CHECK(store.before_delete == nullptr);
    CHECK(names.Find(UidKind::kMetric, "old").status().code() == StatusCode::kNotFound);
    CHECK(*names.FindOrAssign(UidKind::kMetric, "old") != id);
  }
}

TEST_CASE(
    "a rename whose new name is assigned in the meantime is refused, and both ids keep their "
    "names") {
  PausingStore store;
  Names names(store, {}), others(store, {});
  const Bytes id = *names.FindOrAssign(UidKind::kMetric, "old");
  Bytes new_id;
  store.after_put = [&] { new_id = *others.FindOrAssign(UidKind::kMetric, "new"); };
  const Status renamed = names.Rename(UidKind::kMetric, "old", "new");
  CHECK(store.after_put == nullptr);
  CHECK(renamed.code() == StatusCode::kConflict);
  CHECK(renamed.message().find("new name already assigned ID=[0, 0, 2]") != std::string::npos);
  CHECK(new_id != id);
  Names fresh(store, {});
  for (Names* each : {&names, &others, &fresh}) {
    CHECK(*each->Find(UidKind::kMetric, "new") == new_id);
    CHECK(*each->Find(UidKind::kMetric, "old") == id);
    CHECK(*each->NameOf(UidKind::kMetric, new_id) == "new");
    CHECK(*each->NameOf(UidKind::kMetric, id) == "old");
  }
  CHECK(names.Rename(UidKind::kMetric, "old", "newer").ok());
}

TEST_CASE("a scan of names ends with its request, whatever names it finds") {
  TracingStore store;
  Names names(store, {});
  for (int i = 0; i < 100; ++i)
    REQUIRE(names.FindOrAssign(UidKind::kTagv, "v" + std::to_string(i)).ok());
  FakeWatch watch;
  MemoryTally tally(&watch);
  const auto visit = [](const std::string&) -> Result<bool> { return true; };
  CHECK(names.ForEach(UidKind::kTagv, "v", &watch, visit).ok());
  CHECK(watch.steps >= 100);
  watch.steps_max = watch.steps;
  CHECK(names.ForEach(UidKind::kTagv, "v", &watch, visit).code() == StatusCode::kDeadlineExceeded);
  CHECK(names.Suggest(UidKind::kTagv, "v", 10, &tally).status().code() ==
        StatusCode::kDeadlineExceeded);
  CHECK(names.ForEach(UidKind::kTagv, "v", nullptr, visit).ok());
}

TEST_CASE("suggested names are charged, and reading them can be stopped") {
  TracingStore store;
  Names names(store, {});
  for (int i = 0; i < 100; ++i)
    REQUIRE(names.FindOrAssign(UidKind::kTagv, std::to_string(i) + std::string(1000, 'x')).ok());
  FakeWatch watch;
  {
    MemoryTally tally(&watch);
    CHECK(names.Suggest(UidKind::kTagv, "", 1000, &tally)->size() == 100);
    CHECK(tally.held() > 100'000);
    CHECK(watch.steps >= 100);
  }
  CHECK(watch.bytes == 0);
  watch.bytes_max = 80'000;
  {
    MemoryTally tally(&watch);
    CHECK(names.Suggest(UidKind::kTagv, "", 1000, &tally).status().code() ==
          StatusCode::kLimitExceeded);
    CHECK(names.Suggest(UidKind::kTagv, "1", 10, nullptr)->size() == 10);
  }
  watch.steps_max = watch.steps;
  MemoryTally tally(&watch);
  CHECK(names.Suggest(UidKind::kTagv, "", 1, &tally).status().code() ==
        StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hg::uid
