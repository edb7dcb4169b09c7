#include "uid/names.h"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <set>
#include <thread>

#include "storage/model/name_text.h"
#include "tests/support/fake_watch.h"
#include "tests/support/hex.h"
#include "tests/support/model_store.h"

namespace hg::uid {
namespace {

// Records the calls to storage, in the notation of opentsdb-schema.md §23.5, and fails calls on
// request.
class TracingStore final : public ModelStore {
 public:
  TracingStore() {
    REQUIRE(CreateTable({.name = "tsdb-uid", .families = {{"id"}, {"name"}}}).ok());
    trace_.clear();
  }

  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    for (const RowMutation& row : rows) {
      for (const CellChange& change : row.changes) {
        const bool put = change.kind == CellChange::Kind::kPut;
        trace_.push_back((put ? "PUT " : "DEL ") +
                         Column(row.key, change.family, change.qualifier) +
                         (put ? " = " + ToHexUpper(change.value) : ""));
      }
    }
    return ModelStore::MutateRows(table, rows);
  }

  Result<int64_t> Increment(const std::string& table, ByteView key, ByteView family,
                            ByteView qualifier, int64_t by) override {
    if (failures_ > 0) {
      --failures_;
      return Status::Unavailable("not now");
    }
    const Result<int64_t> value = ModelStore::Increment(table, key, family, qualifier, by);
    trace_.push_back("INC " + Column(key, family, qualifier) + " -> " + std::to_string(*value));
    return value;
  }

  Result<bool> CompareAndMutate(ByteView family, ByteView qualifier, const Expected& expected,
                                const std::string& table, const RowMutation& mutation) override {
    const Result<bool> done =
        ModelStore::CompareAndMutate(family, qualifier, expected, table, mutation);
    std::lock_guard lock(mutex_);
    trace_.push_back("CAS " + Column(mutation.key, family, qualifier) +
                     " := " + ToHexUpper(mutation.changes[0].value) + (*done ? " true" : " false"));
    return done;
  }

  // The calls since the last one.
  std::vector<std::string> Trace() { return std::exchange(trace_, {}); }
  void FailIncrements(int n) { failures_ = n; }

  void Put(std::string_view row, const char* family, const char* qualifier,
           std::string_view value) {
    REQUIRE(ModelStore::MutateRows("tsdb-uid",
                                   {{Hex(row), {PutCell(family, qualifier, Hex(value))}}})[0]
                .ok());
  }
  // "" if there is none.
  std::string Value(std::string_view row, const char* family, const char* qualifier) {
    const Result<Row> found = Get("tsdb-uid", Hex(row), family, {qualifier});
    REQUIRE(found.ok());
    return found->cells.empty() ? "" : ToHexUpper(found->cells[0].value);
  }

 private:
  static std::string Column(ByteView key, ByteView family, ByteView qualifier) {
    return ToHexUpper(key) + " " + std::string(family) + ":" + std::string(qualifier);
  }

  std::mutex mutex_;
  std::vector<std::string> trace_;  // increments and mutations are traced by one thread only
  int failures_ = 0;
};

// Calls functions between a read of the store and its use, or before a column is deleted.
class PausingStore final : public ModelStore {
 public:
  PausingStore() { REQUIRE(CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok()); }
  std::function<void()> after_read;     // called once
  std::function<void()> before_delete;  // called once
  std::function<void()> after_put;      // called once, after a put without a condition

  Result<Row> Get(const std::string& table, ByteView key, ByteView family,
                  const std::vector<Bytes>& qualifiers) override {
    Result<Row> row = ModelStore::Get(table, key, family, qualifiers);
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

using Lines = std::vector<std::string>;

TEST_CASE(
    "an assignment increments the counter, writes the reverse mapping, then the forward one") {
  TracingStore store;
  Names names(store, {});
  bool assigned = false;
  const Result<Bytes> host = names.FindOrAssign(UidKind::kTagk, "host", &assigned);
  REQUIRE(host.ok());
  CHECK(ToHexUpper(*host) == "000001");
  CHECK(assigned);
  CHECK(store.Trace() == Lines{"INC 00 id:tagk -> 1", "CAS 000001 name:tagk := 686F7374 true",
                               "CAS 686F7374 id:tagk := 000001 true"});
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "dc").ok());
  CHECK(store.Trace() == Lines{"INC 00 id:tagk -> 2", "CAS 000002 name:tagk := 6463 true",
                               "CAS 6463 id:tagk := 000002 true"});
  assigned = false;
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagk, "host", &assigned)) == "000001");
  CHECK_FALSE(assigned);
  CHECK(store.Trace().empty());
}

// opentsdb-schema.md §3.2.
TEST_CASE("metrics, tag keys and tag values have their own counters and share rows") {
  TracingStore store;
  Names names(store, {});
  REQUIRE(names.FindOrAssign(UidKind::kMetric, "sys.cpu.user").ok());
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "host").ok());
  REQUIRE(names.FindOrAssign(UidKind::kTagv, "web01").ok());
  for (const char* kind : {"metrics", "tagk", "tagv"})
    CHECK(store.Value("00", "id", kind) == "0000000000000001");
  CHECK(store.Value("000001", "name", "metrics") == "7379732E6370752E75736572");
  CHECK(store.Value("000001", "name", "tagk") == "686F7374");
  CHECK(store.Value("000001", "name", "tagv") == "7765623031");
  CHECK(store.Value("686F7374", "id", "tagk") == "000001");
  CHECK(store.Value("7379732E6370752E75736572", "id", "metrics") == "000001");
  CHECK(store.Value("7765623031", "id", "tagv") == "000001");
  CHECK(*names.HighestId(UidKind::kTagv) == 1);
}

TEST_CASE(
    "a counter behind its ids loses one id per attempt, and the assignment gives up after two") {
  {
    TracingStore store;
    store.Put("000001", "name", "tagk", "78");
    Names names(store, {});
    CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagk, "host")) == "000002");
    CHECK(store.Trace() == Lines{"INC 00 id:tagk -> 1", "CAS 000001 name:tagk := 686F7374 false",
                                 "INC 00 id:tagk -> 2", "CAS 000002 name:tagk := 686F7374 true",
                                 "CAS 686F7374 id:tagk := 000002 true"});
  }
  TracingStore store;
  store.Put("000001", "name", "tagk", "78");
  store.Put("000002", "name", "tagk", "79");
  Names names(store, {});
  CHECK(names.FindOrAssign(UidKind::kTagk, "host").status().code() == StatusCode::kConflict);
  CHECK(store.Trace().size() == 4);
  CHECK(store.Value("686F7374", "id", "tagk").empty());
  CHECK(*names.HighestId(UidKind::kTagk) == 2);
  // The next call begins after the lost ids.
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagk, "host")) == "000003");
}

TEST_CASE("failures of the store use up attempts and are reported") {
  TracingStore store;
  Names names(store, {});
  store.FailIncrements(1);
  CHECK(names.FindOrAssign(UidKind::kTagk, "host").ok());
  store.FailIncrements(2);
  CHECK(names.FindOrAssign(UidKind::kTagk, "dc").status().code() == StatusCode::kUnavailable);
}

TEST_CASE("if another writer assigns the same name first, its id is used") {
  // The winner's forward mapping appears between the lookup and the compare-and-set here.
  class RacedStore final : public ModelStore {
   public:
    Result<bool> CompareAndMutate(ByteView family, ByteView qualifier, const Expected& expected,
                                  const std::string& table, const RowMutation& mutation) override {
      if (family == "id" && mutation.key == "host") {
        REQUIRE(Mutate("tsdb-uid", {{"host", {PutCell("id", "tagk", Bytes("\0\0\x09", 3))}}}).ok());
      }
      return ModelStore::CompareAndMutate(family, qualifier, expected, table, mutation);
    }
  } store;
  REQUIRE(store.CreateTable({.name = "tsdb-uid", .families = {{"id"}, {"name"}}}).ok());
  Names names(store, {});
  bool assigned = false;
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagk, "host", &assigned)) == "000009");
  CHECK_FALSE(assigned);
  CHECK(store.Get("tsdb-uid", Hex("000001"), "name", {"tagk"})->cells.at(0).value == "host");
}

TEST_CASE("when all ids are assigned, a refused name moves the counter and is reported") {
  TracingStore store;
  NamesOptions options;
  options.layout.tagv_width = 1;
  size_t refused = 0;
  options.ids_used_up = [&](UidKind kind, const Status&) { refused += kind == UidKind::kTagv; };
  Names names(store, options);
  store.Put("00", "id", "tagv", "00000000000000FE");
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagv, "last")) == "FF");
  store.Trace();
  CHECK(names.FindOrAssign(UidKind::kTagv, "more").status().code() == StatusCode::kInvalidArgument);
  CHECK(store.Trace() == Lines{"INC 00 id:tagv -> 256"});  // as in OpenTSDB
  CHECK(*names.HighestId(UidKind::kTagv) == 256);
  CHECK(refused == 1);
}

TEST_CASE("random metric ids do not use the counter and are retried nine times") {
  TracingStore store;
  std::deque<uint64_t> bits = {0xFF000000ABCDEF, 0xABCDEF, 0, 5};
  NamesOptions options;
  options.random_metrics = true;
  options.random_bits = [&] {
    const uint64_t next = bits.front();
    if (bits.size() > 1) bits.pop_front();
    return next;
  };
  Names names(store, options);
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kMetric, "a")) == "ABCDEF");
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kMetric, "b")) == "000001");  // a collision, then 0
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kMetric, "c")) == "000005");
  store.Trace();
  CHECK_FALSE(names.FindOrAssign(UidKind::kMetric, "d").ok());
  CHECK(store.Trace().size() == 9);
  CHECK(names.Stats(UidKind::kMetric).random_collisions == 10);
  CHECK(*names.HighestId(UidKind::kMetric) == 0);
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagk, "k")) ==
        "000001");  // only metrics are random
}

TEST_CASE("unknown names and ids give OpenTSDB's errors") {
  TracingStore store;
  Names names(store, {});
  Status status = names.Find(UidKind::kMetric, "room.tmp").status();
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(status.message() == "No such name for 'metrics': 'room.tmp'");
  status = names.NameOf(UidKind::kTagv, Hex("0000E4")).status();
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(status.message() == "No such unique ID for 'tagv': [0, 0, -28]");
  CHECK(names.NameOf(UidKind::kTagv, Hex("00E4")).status().code() == StatusCode::kInvalidArgument);
  CHECK(names.Find(UidKind::kMetric, "").status().code() == StatusCode::kNotFound);
  CHECK(names.FindOrAssign(UidKind::kMetric, "").status().code() == StatusCode::kInvalidArgument);
  CHECK(store.Trace().empty());
}

TEST_CASE("a stored id of another width is corruption") {
  TracingStore store;
  store.Put("686F7374", "id", "tagk", "0001");
  Names names(store, {});
  CHECK(names.Find(UidKind::kTagk, "host").status().code() == StatusCode::kCorruption);
  CHECK(names.FindOrAssign(UidKind::kTagk, "host").status().code() == StatusCode::kCorruption);
  CHECK(store.Trace().empty());
}

TEST_CASE(
    "names beyond ISO-8859-1 share ids: the first spelling is given back, a second one is "
    "refused") {
  TracingStore store;
  Names names(store, {});
  const Bytes first = *names.FindOrAssign(UidKind::kTagv, "温度");
  CHECK(store.Value("3F3F", "id", "tagv") == ToHexUpper(first));
  CHECK(store.Value(ToHexUpper(first), "name", "tagv") == "3F3F");
  CHECK(*names.NameOf(UidKind::kTagv, first) == "温度");

  for (int i = 0; i < 2; ++i) {  // uncached, then cached
    CHECK(names.FindOrAssign(UidKind::kTagv, "湿度").status().code() == StatusCode::kConflict);
    CHECK(*names.Find(UidKind::kTagv, "湿度") == first);
  }
  CHECK(*names.NameOf(UidKind::kTagv, first) == "温度");
  CHECK(names.FindOrAssign(UidKind::kTagv, "温度").ok());
  CHECK(names.Suggest(UidKind::kTagv, "?", 10).status().code() == StatusCode::kCorruption);
  CHECK(*names.HighestId(UidKind::kTagv) == 1);

  // A process that knows neither name reads the stored text.
  Names fresh(store, {});
  CHECK(*fresh.Suggest(UidKind::kTagv, "?", 10) == Lines{"??"});
  CHECK(*fresh.NameOf(UidKind::kTagv, first) == "??");

  const Bytes latin = *names.FindOrAssign(UidKind::kTagv, "température");
  CHECK(store.Value("74656D70E9726174757265", "id", "tagv") == ToHexUpper(latin));
  CHECK(*fresh.NameOf(UidKind::kTagv, latin) == "température");
  CHECK(*fresh.Suggest(UidKind::kTagv, "tempé", 10) == Lines{"température"});
}

TEST_CASE("suggestions come in byte order, of one kind, up to a number") {
  TracingStore store;
  Names names(store, {});
  for (const char* name :
       {"sys.mem", "sys.cpu", "sys", "app", "syz", "~tilde", "ümlaut", " blank"}) {
    REQUIRE(names.FindOrAssign(UidKind::kMetric, name).ok());
  }
  REQUIRE(names.FindOrAssign(UidKind::kTagk, "sys.key").ok());
  CHECK(*names.Suggest(UidKind::kMetric, "sys", 25) == Lines{"sys", "sys.cpu", "sys.mem"});
  CHECK(*names.Suggest(UidKind::kMetric, "sys", 2) == Lines{"sys", "sys.cpu"});
  CHECK(names.Suggest(UidKind::kMetric, "sys", 0)->empty());
  CHECK(names.Suggest(UidKind::kMetric, "nothing", 25)->empty());
  CHECK(*names.Suggest(UidKind::kMetric, "", 25) ==
        Lines{"app", "sys", "sys.cpu", "sys.mem", "syz"});
  CHECK(*names.Suggest(UidKind::kMetric, "ü", 25) == Lines{"ümlaut"});
  CHECK(*names.Suggest(UidKind::kMetric, "~", 25) == Lines{"~tilde"});
  CHECK(names.Suggest(UidKind::kMetric, "ÿ", 25)->empty());  // the last byte: no end to the range
}

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
  REQUIRE(names.ForEach(UidKind::kMetric, "m", count).ok());
  CHECK(seen == kNames);
  CHECK(store.scans == 1);
  CHECK(store.rows == kNames);
  seen = 0;
  CHECK(names
            .ForEach(UidKind::kMetric, "",
                     [&](const std::string&) -> Result<bool> { return ++seen < 3; })
            .ok());
  CHECK(seen == 3);
  const auto fail = [](const std::string&) -> Result<bool> { return Status::Busy("full"); };
  CHECK(names.ForEach(UidKind::kMetric, "m", fail).code() == StatusCode::kBusy);
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

TEST_CASE("caches are used without the store until they are dropped") {
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
  names.CountRejected(UidKind::kTagk);
  CHECK(names.Stats(UidKind::kTagk).rejected == 1);
}

TEST_CASE("many threads that need the same new names share one assignment of each") {
  ModelStore store;
  REQUIRE(store.CreateTable({.name = "tsdb-uid", .families = {{"id"}, {"name"}}}).ok());
  Names names(store, {});
  constexpr int kThreads = 8;
  constexpr int kNames = 200;
  std::vector<std::vector<Bytes>> ids(kThreads);
  std::atomic<int> assigned_count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kNames; ++n) {
        bool assigned = false;
        const Result<Bytes> id =
            names.FindOrAssign(UidKind::kTagv, "v" + std::to_string(n), &assigned);
        ids[static_cast<size_t>(t)].push_back(id.ok() ? *id : Bytes());
        if (assigned) ++assigned_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : ids) CHECK(of_thread == ids[0]);
  CHECK(std::set<Bytes>(ids[0].begin(), ids[0].end()).size() == kNames);
  CHECK(assigned_count == kNames);
  CHECK(*names.HighestId(UidKind::kTagv) == kNames);
}

TEST_CASE("two processes on one store assign the same ids") {
  ModelStore store;
  REQUIRE(store.CreateTable({.name = "tsdb-uid", .families = {{"id"}, {"name"}}}).ok());
  Names one(store, {});
  Names two(store, {});
  std::vector<std::thread> threads;
  for (Names* names : {&one, &two}) {
    threads.emplace_back([names] {
      for (int n = 0; n < 200; ++n)
        (void)names->FindOrAssign(UidKind::kTagk, "k" + std::to_string(n));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<Bytes> ids;
  for (int n = 0; n < 200; ++n) {
    const Result<Bytes> id = one.Find(UidKind::kTagk, "k" + std::to_string(n));
    REQUIRE(id.ok());
    CHECK(*two.Find(UidKind::kTagk, "k" + std::to_string(n)) == *id);
    ids.insert(*id);
  }
  CHECK(ids.size() == 200);
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
  REQUIRE(names.Suggest(UidKind::kTagk, "", 10).ok());
  CHECK(store.fills_cache);
  REQUIRE(names.ForEachId([](auto&&...) { return true; }).ok());
  CHECK_FALSE(store.fills_cache);
}

TEST_CASE("a name that the filter refuses gets no id, and known names stay") {
  TracingStore store;
  NamesOptions options;
  options.may_assign = [](UidKind kind, std::string_view name) {
    return kind != UidKind::kMetric || name.starts_with("sys");
  };
  Names names(store, options);
  CHECK(names.FindOrAssign(UidKind::kMetric, "my.cpu").status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(names.Stats(UidKind::kMetric).rejected == 1);
  CHECK(*names.HighestId(UidKind::kMetric) == 0);
  CHECK(names.FindOrAssign(UidKind::kMetric, "sys.cpu").ok());
  CHECK(names.FindOrAssign(UidKind::kTagk, "my.key").ok());
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
      // It was true at the time of the check.
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

TEST_CASE("a name without memory uses no id, and known names are still found") {
  TracingStore store;
  bool full = false;
  std::vector<uint64_t> asked;
  NamesOptions options;
  options.may_grow = [&](uint64_t bytes) {
    asked.push_back(bytes);
    return full ? Status::Exhausted("full") : Status();
  };
  Names names(store, options);
  const Bytes known = *names.FindOrAssign(UidKind::kTagv, "known");
  CHECK(asked == std::vector<uint64_t>{Names::MemoryOf(5)});
  full = true;
  store.Trace();
  const std::string large(30000, 'x');
  for (int i = 0; i < 3; ++i) {
    const Status refused = names.FindOrAssign(UidKind::kTagv, large).status();
    CHECK(refused.code() == StatusCode::kExhausted);
    CHECK(names.FindOrAllow(UidKind::kTagv, large)->has_value() == false);
  }
  CHECK(asked.back() > 4 * large.size());
  CHECK(store.Trace().empty());
  CHECK(*names.FindOrAssign(UidKind::kTagv, "known") == known);
  CHECK(*names.HighestId(UidKind::kTagv) == 1);
  full = false;
  CHECK(ToHexUpper(*names.FindOrAssign(UidKind::kTagv, large)) == "000002");
}

TEST_CASE("a name may be as long as a row key, and a longer one uses no id") {
  TracingStore store;
  Names names(store, {});
  std::string longest;  // two bytes of UTF-8 are one of ISO-8859-1
  for (size_t i = 0; i < kNameLengthMax; ++i) longest += "é";
  CHECK(names.FindOrAssign(UidKind::kTagk, longest).ok());
  CHECK(*names.NameOf(UidKind::kTagk, Hex("000001")) == longest);
  store.Trace();
  const Status refused = names.FindOrAssign(UidKind::kTagk, longest + "e").status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message() ==
        "a name for 'tagk' has 32768 characters (at most 32767 can be stored)");
  CHECK(names.FindOrAllow(UidKind::kTagk, longest + "e").status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(names.Rename(UidKind::kTagk, longest, longest + "e").code() ==
        StatusCode::kInvalidArgument);
  CHECK(store.Trace().empty());
}

TEST_CASE("FindOrAllow says whether a name may get an id, without assigning it") {
  TracingStore store;
  NamesOptions options;
  options.may_assign = [](UidKind, std::string_view name) { return name != "refused"; };
  Names names(store, options);
  const Bytes id = *names.FindOrAssign(UidKind::kMetric, "known");
  store.Trace();
  CHECK(*names.FindOrAllow(UidKind::kMetric, "known") == id);
  CHECK_FALSE(names.FindOrAllow(UidKind::kMetric, "new")->has_value());
  CHECK(names.FindOrAllow(UidKind::kMetric, "").status().code() == StatusCode::kInvalidArgument);
  CHECK(names.FindOrAllow(UidKind::kMetric, "refused").status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(names.Stats(UidKind::kMetric).rejected == 1);
  CHECK(store.Trace().empty());
  CHECK(ToHexUpper(*names.AssignAllowed(UidKind::kMetric, "new")) == "000002");
  // Another process was faster.
  Names other(store, options);
  CHECK_FALSE(other.FindOrAllow(UidKind::kMetric, "both")->has_value());
  const Bytes first = *names.FindOrAssign(UidKind::kMetric, "both");
  CHECK(*other.AssignAllowed(UidKind::kMetric, "both") == first);
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
