#include "uid/names.h"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <set>
#include <thread>

#include "storage/model/name_text.h"
#include "tests/support/hex.h"
#include "tests/support/model_store.h"
#include "tests/uid/tracing_store.h"

namespace hg::uid {
namespace {

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
    "if ids beyond the counter are in use, each attempt loses one id, and an assignment "
    "fails after two") {
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

TEST_CASE("an assignment is retried after one failure of the store, and fails after a second one") {
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

TEST_CASE(
    "when all ids are assigned, a new name is refused and reported, and the counter still "
    "increases") {
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
        "000001");  // only ids of metrics are random
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
    "names outside ISO-8859-1 share an id: the first name is returned, and a second one is "
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
  CHECK(names.Suggest(UidKind::kTagv, "?", 10, nullptr).status().code() == StatusCode::kCorruption);
  CHECK(*names.HighestId(UidKind::kTagv) == 1);

  // A process that knows neither name reads the stored text.
  Names fresh(store, {});
  CHECK(*fresh.Suggest(UidKind::kTagv, "?", 10, nullptr) == Lines{"??"});
  CHECK(*fresh.NameOf(UidKind::kTagv, first) == "??");

  const Bytes latin = *names.FindOrAssign(UidKind::kTagv, "température");
  CHECK(store.Value("74656D70E9726174757265", "id", "tagv") == ToHexUpper(latin));
  CHECK(*fresh.NameOf(UidKind::kTagv, latin) == "température");
  CHECK(*fresh.Suggest(UidKind::kTagv, "tempé", 10, nullptr) == Lines{"température"});
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

TEST_CASE("a metric that the filter refuses gets no id, and names that it allows get one") {
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

TEST_CASE("without memory for a new name no id is used, and known names are still found") {
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

}  // namespace
}  // namespace hg::uid
