#include "tsd/ingest/ingest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "tests/http/edge_fixture.h"
#include "tests/support/away_store.h"
#include "tests/support/fake_watch.h"

namespace hg::tsd {
namespace {

using http::EdgeFixture;

struct Named {
  std::vector<TagText> tags;
  NamedPoint point;

  Named(std::string_view metric, std::vector<TagText> the_tags, std::string_view raw_key = {})
      : tags(std::move(the_tags)) {
    point.metric = metric;
    point.tags = tags;
    point.time.raw = 1700000000;
    point.value = PointValue::Int(1);
    if (!raw_key.empty()) point.raw_key = {Dialect::kJson, metric, raw_key};
  }
};

Status Store(EdgeFixture& edge, const Named& named) {
  std::vector<Status> verdicts;
  edge.ingest.AppendNamed({&named.point, 1}, WriteContext::Unlimited(), &verdicts);
  REQUIRE(verdicts.size() == 1);
  return verdicts[0];
}

bool KnownRawKey(EdgeFixture& edge, std::string_view metric, std::string_view tags) {
  KeyedPoint point;
  point.series = {Dialect::kJson, metric, tags};
  point.time.raw = 1700000001;
  point.value = PointValue::Int(1);
  const auto appended = edge.ingest.AppendKeyed({&point, 1}, WriteContext::Unlimited());
  REQUIRE(appended.ok());
  return appended->known;
}

}  // namespace

TEST_CASE("a point with names makes its raw series key known, and both mean one series") {
  EdgeFixture edge;
  CHECK_FALSE(KnownRawKey(edge, "m", "{x}"));
  REQUIRE(Store(edge, Named("m", {{"b", "2"}, {"a", "1"}}, "{x}")).ok());
  REQUIRE(KnownRawKey(edge, "m", "{x}"));
  const auto cells = edge.Cells();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].substr(0, cells[0].find(' ')) == cells[1].substr(0, cells[1].find(' ')));
}

TEST_CASE(
    "if appends may wait for another machine, event loops do not append, and pool threads do") {
  EdgeFixture edge;
  IngestOptions options;
  options.auto_create_metrics = true;
  options.append_blocks = true;
  Ingest remote(edge.points, edge.names, options);
  KeyedPoint point;
  point.series = {Dialect::kJson, "m", R"({"host":"a"})"};
  point.time.raw = 1700000001;
  point.value = PointValue::Int(1);
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(remote.AppendKeyed({&point, 1}, WriteContext::Unlimited())->known);
    CHECK(remote.AppendLearning({&point, 1}, WriteContext::Unlimited()).stored == 1);
  }
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE(
    "a field of a line is known after a point with its names was accepted, until names change") {
  EdgeFixture edge;
  const KeyedField field{"user", PointValue::Int(2)};
  const KeyedLine line{"cpu,host=a", Timestamp{1700000001}, 1};
  const auto known = [&](PointSink& sink) {
    const auto appended = sink.AppendLines({&line, 1}, {&field, 1}, WriteContext::Unlimited());
    REQUIRE(appended.ok());
    return appended->known;
  };
  CHECK_FALSE(known(edge.ingest));
  Named named("cpu.user", {{"host", "a"}});
  named.point.raw_key = {Dialect::kInflux, "user", "cpu,host=a"};
  REQUIRE(Store(edge, named).ok());
  CHECK(known(edge.ingest));
  const auto cells = edge.Cells();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].substr(0, cells[0].find(' ')) == cells[1].substr(0, cells[1].find(' ')));
  edge.ingest.ForgetRawKeys();
  CHECK_FALSE(known(edge.ingest));
  REQUIRE(Store(edge, named).ok());
  CHECK(known(edge.ingest));
  // If appends may wait for another machine, event loops do not append.
  IngestOptions options;
  options.auto_create_metrics = options.append_blocks = true;
  Ingest remote(edge.points, edge.names, options);
  std::vector<Status> verdicts;
  remote.AppendNamed({&named.point, 1}, WriteContext::Unlimited(), &verdicts);
  CHECK_FALSE(known(remote));
}

TEST_CASE("the row key sorts tags by id, not by name or order of arrival") {
  EdgeFixture edge;
  REQUIRE(Store(edge, Named("m", {{"b", "2"}, {"a", "1"}})).ok());
  REQUIRE(Store(edge, Named("m", {{"a", "1"}, {"b", "2"}})).ok());
  // b has the id 1 and a the id 2, so both points are in one row.
  REQUIRE(edge.Cells().size() == 1);
  CHECK(edge.Cells()[0].starts_with("0000016553ede0000001000001000002000002 "));
}

TEST_CASE("a refused point leaves no raw series key and no id") {
  EdgeFixture edge;
  const Status status = Store(edge, Named("m", {{"a", "b!"}}, "{x}"));
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK_FALSE(KnownRawKey(edge, "m", "{x}"));
  CHECK(edge.Ids().empty());
}

TEST_CASE("names get ids only if this is allowed, and the metric is checked first") {
  IngestOptions options;
  options.auto_create_tagvs = false;
  EdgeFixture edge(options);
  Status status = Store(edge, Named("m", {{"a", "b"}}));
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(status.message() == "No such name for 'metrics': 'm'");
  CHECK(edge.Ids().empty());
  REQUIRE(edge.names.FindOrAssign(UidKind::kMetric, "m").ok());
  status = Store(edge, Named("m", {{"a", "b"}}));
  CHECK(status.message() == "No such name for 'tagv': 'b'");
  CHECK(edge.names.Find(UidKind::kTagk, "a").status().code() == StatusCode::kNotFound);
}

namespace {

/// Whether the raw series keys of a batch were learned and its points stored.
bool Learn(EdgeFixture& edge, const std::vector<RawKey>& raw_keys) {
  std::vector<KeyedPoint> points;
  for (const RawKey& raw_key : raw_keys) {
    KeyedPoint& point = points.emplace_back();
    point.series = raw_key;
    point.time.raw = 1700000002;
    point.value = PointValue::Int(1);
  }
  const auto learned = edge.ingest.AppendLearning(points, WriteContext::Unlimited());
  REQUIRE(learned.refused.ok());
  return learned.stored == points.size();
}

}  // namespace

TEST_CASE("a batch with plain raw series keys gets the same ids as points with these names") {
  EdgeFixture edge;
  // New ids are given in the order of OpenTSDB's map, which is not that of the text here.
  REQUIRE(Store(edge, Named("m", {{"b", "2"}, {"host", "h"}})).ok());
  const std::vector<std::string> named = edge.Ids();
  EdgeFixture learning;
  REQUIRE(Learn(learning, {{Dialect::kJson, "m", R"({"host":"h", "b" : "2"})"}}));
  CHECK(learning.Ids() == named);
  CHECK(KnownRawKey(learning, "m", R"({"host":"h", "b" : "2"})"));
  REQUIRE(Learn(learning, {{Dialect::kWords, "m", "b=2 host=h"}}));
  CHECK(learning.Ids() == named);
  CHECK(learning.Cells().size() == 2);  // one series
}

TEST_CASE("a batch of new series gets the same ids and rows as its points one by one") {
  std::vector<std::string> tags;
  for (int host = 0; host < 150; ++host) {
    tags.push_back(R"({"host":"h)" + std::to_string(host) + R"(","dc":"d)" +
                   std::to_string(host % 7) + R"("})");
  }
  EdgeFixture together, one_by_one;
  std::vector<RawKey> batch;
  for (const std::string& of : tags) {
    for (const char* metric : {"m", "n", "m"}) batch.push_back({Dialect::kJson, metric, of});
  }
  REQUIRE(Learn(together, batch));
  for (const RawKey& raw_key : batch) REQUIRE(Learn(one_by_one, {raw_key}));
  CHECK(together.Ids() == one_by_one.Ids());
  CHECK(together.Cells() == one_by_one.Cells());
  for (const RawKey& raw_key : batch) {
    REQUIRE(KnownRawKey(together, raw_key.metric, raw_key.tags));
  }
  // These keys mean known series, so the store must not get new names or series.
  std::vector<std::string> words;
  for (int host = 0; host < 150; ++host) {
    words.push_back("dc=d" + std::to_string(host % 7) + " host=h" + std::to_string(host));
  }
  for (RawKey& raw_key : batch) {
    raw_key.dialect = Dialect::kWords;
    raw_key.tags = words[static_cast<size_t>(&raw_key - batch.data()) / 3];
  }
  const auto raw_keys = together.ingest.stats().raw_keys;
  REQUIRE(Learn(together, batch));
  CHECK(together.Ids() == one_by_one.Ids());
  CHECK(together.ingest.stats().raw_keys == raw_keys);
}

TEST_CASE(
    "if ids have run out, the fast path learns no new name, so that an attempt is counted "
    "only once") {
  EdgeFixture edge;
  REQUIRE(Learn(edge, {{Dialect::kWords, "m", "a=1"}}));
  const Bytes last("\0\0\0\0\0\xFF\xFF\xFF", 8);
  REQUIRE(edge.store
              .Mutate("tsdb-uid",
                      {{Bytes(1, '\0'), {{CellChange::Kind::kPut, "id", "tagv", last, {}}}}})
              .ok());
  CHECK_FALSE(Learn(edge, {{Dialect::kWords, "m", "a=2"}}));
  CHECK(*edge.names.HighestId(UidKind::kTagv) == 0xFFFFFF);
  CHECK(Learn(edge, {{Dialect::kWords, "m", "a=1"}}));  // no new name
}

TEST_CASE(
    "if names are filtered, the fast path learns no new name, so that a refusal is counted "
    "only once") {
  EdgeFixture edge;
  uid::NamesOptions options;
  options.may_assign = [](UidKind, std::string_view name) { return name != "bad"; };
  uid::Names names(edge.store, options);
  Ingest ingest(edge.points, names, EdgeFixture::AllAutomatic());
  KeyedPoint point;
  point.series = {Dialect::kWords, "m", "a=bad"};
  point.time.raw = 1700000002;
  point.value = PointValue::Int(1);
  CHECK(ingest.AppendLearning({&point, 1}, WriteContext::Unlimited()).stored == 0);
  CHECK(names.Stats(UidKind::kTagv).rejected == 0);  // the slow path counts them
}

TEST_CASE(
    "a raw series key whose metric and tags are known from other keys is learned without "
    "its names") {
  EdgeFixture edge;
  REQUIRE(Store(edge, Named("m", {{"a", "1"}}, "{x}")).ok());
  REQUIRE(Store(edge, Named("n", {{"a", "2"}}, "{y}")).ok());
  CHECK_FALSE(KnownRawKey(edge, "m", "{y}"));
  REQUIRE(Learn(edge, {{Dialect::kJson, "m", "{y}"}}));
  CHECK(KnownRawKey(edge, "m", "{y}"));
  CHECK_FALSE(Learn(edge, {{Dialect::kJson, "m", "{z}"}}));
}

TEST_CASE(
    "raw series keys that are not plain or would be refused are left to the slow path, and "
    "nothing is stored") {
  EdgeFixture edge;
  for (const char* tags : {"{}", R"({"a":"b")", R"({"a":""})", R"({"a":"b!"})", R"({"a":"\u0062"})",
                           R"({"a":"b","a":"b"})", R"({"a":"b",})", R"({"a":1})", R"({"a":null})",
                           "{\"a\":\"\xc3\xa4\"}", R"({"a":{"b":"c"}})", R"({"a":"b"} x)"}) {
    CAPTURE(tags);
    CHECK_FALSE(Learn(edge, {{Dialect::kJson, "m", tags}}));
  }
  for (const char* tags : {"", "a", "a=", "=b", "a=b=c", "a=b ", "a=b  c=d", "a=b a=b", "a=b!"}) {
    CAPTURE(tags);
    CHECK_FALSE(Learn(edge, {{Dialect::kWords, "m", tags}}));
  }
  CHECK_FALSE(Learn(edge, {{Dialect::kWords, "", "a=b"}}));
  CHECK_FALSE(Learn(edge, {{Dialect::kWords, "m!", "a=b"}}));
  CHECK(edge.Ids().empty());
  const RawKey good{Dialect::kWords, "m", "a=b"}, bad{Dialect::kWords, "m", "a=b!"};
  CHECK_FALSE(Learn(edge, {bad, good}));
  CHECK(edge.Cells().empty());
  IngestOptions options = EdgeFixture::AllAutomatic();
  options.max_tags = 1;
  EdgeFixture narrow(options);
  CHECK_FALSE(Learn(narrow, {{Dialect::kWords, "m", "a=1 b=2"}}));
  CHECK(narrow.Ids().empty());
}

TEST_CASE(
    "the number of tags is limited, and protocols other than OpenTSDB's have their own limit") {
  IngestOptions options = EdgeFixture::AllAutomatic();
  options.max_tags = 1;
  EdgeFixture edge(options);
  CHECK(Store(edge, Named("m", {{"a", "1"}})).ok());
  CHECK(Store(edge, Named("m", {{"a", "1"}, {"b", "2"}})).message() ==
        "Too many tags: 2 maximum allowed: 1, tags: {a=1, b=2}");
  CHECK(Store(edge, Named("m", {})).message() == "Need at least one tag (metric=m, tags={})");
  for (const Dialect dialect : {Dialect::kInflux, Dialect::kLabels, Dialect::kGraphite}) {
    Named two("m", {{"a", "1"}, {"b", "2"}});
    two.point.raw_key.dialect = dialect;
    CHECK(Store(edge, two).ok());
  }
  options.foreign_max_tags = 1;
  EdgeFixture narrow(options);
  Named two("m", {{"a", "1"}, {"b", "2"}});
  two.point.raw_key.dialect = Dialect::kGraphite;
  CHECK(Store(narrow, two).message() ==
        "Too many tags: 2 maximum allowed: 1 (setting tsd.ingest.max_tags), tags: {a=1, b=2}");
}

TEST_CASE("a put with more tags than the setting or a row key allows gets 400") {
  IngestOptions options = EdgeFixture::AllAutomatic();
  const auto put = [&options](int tags) {
    std::string body = R"({"metric":"m","timestamp":1700000000,"value":1,"tags":{)";
    for (int i = 0; i < tags; ++i)
      body += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + R"(":"v")";
    EdgeFixture edge(options);
    const auto reply = edge.Post("/api/put?details", body + "}}");
    CHECK(edge.Cells().size() == (reply.status == 200 ? 1 : 0));
    return std::to_string(reply.status) + " " + reply.body;
  };
  CHECK(put(8).starts_with("200"));
  const std::string many = put(9);
  CHECK(many.starts_with("400"));
  CHECK(many.find("Too many tags: 9 maximum allowed: 8") != std::string::npos);
  options.max_tags = 20'000;
  const std::string very_many = put(11'000);
  CHECK(very_many.starts_with("400"));
  CHECK(very_many.find("the maximum is 32767") != std::string::npos);
}

TEST_CASE("the error of invalid tags is built once for all fields of a line") {
  EdgeFixture edge;
  const std::vector<TagText> bad = {{"a", "1!"}}, good = {{"a", "1"}};
  std::vector<NamedPoint> points;
  for (const std::string_view metric : {"m.x", "m!", "m.y", "m.z"}) {
    points.push_back(Named(metric, {}).point);
    points.back().tags = bad;
  }
  points.push_back(Named("m.x", {}).point);
  points.back().tags = good;
  std::vector<Status> verdicts;
  edge.ingest.AppendNamed(points, WriteContext::Unlimited(), &verdicts);
  REQUIRE(verdicts.size() == 5);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(verdicts[i].code() == StatusCode::kInvalidArgument);
    CHECK(verdicts[i].message() == verdicts[0].message());
  }
  // The messages share one text in memory.
  CHECK(verdicts[1].message().data() == verdicts[2].message().data());
  CHECK(verdicts[2].message().data() == verdicts[3].message().data());
  CHECK(verdicts[4].ok());

  // The error of an invalid metric does not mention the tags.
  points = {Named("m!", {}).point, Named("m.x", {}).point, Named("m?", {}).point};
  for (NamedPoint& point : points) point.tags = good;
  edge.ingest.AppendNamed(points, WriteContext::Unlimited(), &verdicts);
  CHECK(verdicts[0].message().find("m!") != std::string_view::npos);
  CHECK(verdicts[1].ok());
  CHECK(verdicts[2].message().find("m?") != std::string_view::npos);
}

TEST_CASE("the old raw series key of a renamed metric is forgotten when the change is reported") {
  EdgeFixture edge;
  REQUIRE(Store(edge, Named("m", {{"a", "1"}}, "{x}")).ok());
  REQUIRE(edge.names.Rename(UidKind::kMetric, "m", "n").ok());
  edge.ingest.ForgetRawKeys();
  CHECK_FALSE(KnownRawKey(edge, "m", "{x}"));
  REQUIRE(Store(edge, Named("m", {{"a", "1"}}, "{x}")).ok());
  const auto id = edge.names.Find(UidKind::kMetric, "m");
  REQUIRE(id.ok());
  CHECK(ToHex(*id) == "000002");
}

TEST_CASE("if the store with the names is unreachable, a batch asks it only once") {
  EdgeFixture edge;
  AwayStore away;
  uid::Names names(away, {});
  Ingest remote(edge.points, names, EdgeFixture::AllAutomatic());
  const Named good("m", {{"a", "1"}}), other("n", {{"a", "1"}}), bad("m!", {{"a", "1"}});
  const NamedPoint points[] = {bad.point, good.point, other.point, good.point};
  std::vector<Status> verdicts;
  remote.AppendNamed(points, WriteContext::Unlimited(), &verdicts);
  REQUIRE(verdicts.size() == 4);
  CHECK(verdicts[0].code() == StatusCode::kInvalidArgument);
  for (size_t i = 1; i < 4; ++i) CHECK(verdicts[i].code() == StatusCode::kUnavailable);
  CHECK(away.gets == 1);
}

TEST_CASE("a request that ends early keeps the points stored before, and refuses the others") {
  EdgeFixture edge;
  const std::vector<TagText> tags = {{"a", "1"}};
  std::deque<std::string> metrics;
  std::vector<NamedPoint> points;
  for (int i = 0; i < 100; ++i) {
    points.push_back(Named(metrics.emplace_back("m" + std::to_string(i)), {}).point);
    points.back().tags = tags;
  }
  FakeWatch request;
  request.checks_max = 2;
  std::vector<Status> verdicts;
  WriteContext context(request);
  edge.ingest.AppendNamed(points, context, &verdicts);
  REQUIRE(verdicts.size() == 100);
  const auto stored = static_cast<size_t>(std::count_if(
      verdicts.begin(), verdicts.end(), [](const Status& verdict) { return verdict.ok(); }));
  CHECK(stored == 32);
  CHECK(verdicts[31].ok());
  for (size_t i = stored; i < 100; ++i) CHECK(verdicts[i].code() == StatusCode::kDeadlineExceeded);
  CHECK(edge.Cells().size() == stored);
  CHECK(edge.names.Find(UidKind::kMetric, "m31").ok());
  CHECK_FALSE(edge.names.Find(UidKind::kMetric, "m32").ok());
}

TEST_CASE("a batch of raw keys that ends early stores the points whose names have got ids") {
  EdgeFixture edge;
  std::deque<std::string> metrics;
  std::vector<KeyedPoint> points;
  for (int i = 0; i < 1000; ++i) {
    KeyedPoint& point = points.emplace_back();
    point.series = {Dialect::kJson, metrics.emplace_back("m" + std::to_string(i)), "{\"a\":\"1\"}"};
    point.time.raw = 1700000000;
    point.value = PointValue::Int(1);
  }
  FakeWatch request;
  request.checks_max = 1;
  WriteContext context(request);
  const PointSink::Learned learned = edge.ingest.AppendLearning(points, context);
  CHECK(learned.refused.code() == StatusCode::kDeadlineExceeded);
  CHECK(learned.stored == 256);
  CHECK(edge.Cells().size() == 256);
  CHECK(*edge.names.HighestId(UidKind::kMetric) == 256);
  CHECK(edge.ingest.AppendLearning(points, WriteContext::Unlimited()).stored == 1000);
  CHECK(edge.Cells().size() == 1000);
}

TEST_CASE("learning stops at a raw series key that is not plain, and stores the points before it") {
  EdgeFixture edge;
  const auto point = [](std::string_view metric) {
    KeyedPoint keyed;
    keyed.series = {Dialect::kJson, metric, "{\"a\":\"1\"}"};
    keyed.time.raw = 1700000000;
    keyed.value = PointValue::Int(1);
    return keyed;
  };
  const KeyedPoint points[] = {point("m0"), point("m1"), point("m\\u0032"), point("m3")};
  const PointSink::Learned learned = edge.ingest.AppendLearning(points, WriteContext::Unlimited());
  CHECK(learned.refused.ok());
  CHECK(learned.stored == 2);
  CHECK(edge.Cells().size() == 2);
  CHECK(*edge.names.HighestId(UidKind::kMetric) == 2);
}

TEST_CASE("a batch of known raw keys whose request has ended is not stored") {
  EdgeFixture edge;
  KeyedPoint point;
  point.series = {Dialect::kJson, "m", "{\"a\":\"1\"}"};
  point.time.raw = 1700000000;
  point.value = PointValue::Int(1);
  REQUIRE(edge.ingest.AppendLearning({&point, 1}, WriteContext::Unlimited()).stored == 1);
  point.time.raw = 1700000001;
  FakeWatch request;
  request.checks_max = 0;
  WriteContext context(request);
  CHECK(edge.ingest.AppendLearning({&point, 1}, context).refused.code() ==
        StatusCode::kDeadlineExceeded);
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("valid points of a batch are stored, unless the store refuses them") {
  EdgeFixture edge;
  const Named good("m", {{"a", "1"}}), bad("m!", {{"a", "1"}});
  const NamedPoint points[] = {good.point, bad.point};
  std::vector<Status> verdicts;
  edge.points.RefuseAppends(1);
  edge.ingest.AppendNamed(points, WriteContext::Unlimited(), &verdicts);
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].code() == StatusCode::kBusy);
  CHECK(verdicts[1].code() == StatusCode::kInvalidArgument);
  edge.ingest.AppendNamed(points, WriteContext::Unlimited(), &verdicts);
  CHECK(verdicts[0].ok());
  CHECK(edge.Cells().size() == 1);
}

namespace {

/// The write path of a store whose memory for names can be exhausted.
struct NarrowIngest {
  NarrowIngest() : names(edge.store, Options()), ingest(edge.points, names, edge.AllAutomatic()) {}

  uid::NamesOptions Options() {
    uid::NamesOptions options;
    options.may_grow = [this](uint64_t bytes) {
      return bytes > left ? Status::Exhausted("no memory for names") : Status();
    };
    return options;
  }
  Status Put(const Named& named) {
    std::vector<Status> verdicts;
    ingest.AppendNamed({&named.point, 1}, WriteContext::Unlimited(), &verdicts);
    return verdicts.at(0);
  }
  std::vector<int64_t> HighestIds() {
    std::vector<int64_t> ids;
    for (const UidKind kind : kUidKinds) ids.push_back(*names.HighestId(kind));
    return ids;
  }

  EdgeFixture edge;
  uint64_t left = UINT64_MAX;
  uid::Names names;
  Ingest ingest;
};

}  // namespace

TEST_CASE(
    "if there is no memory for the names of a point, none of them gets an id, on every path") {
  NarrowIngest narrow;
  const Named known("m", {{"host", "a"}});
  REQUIRE(narrow.Put(known).ok());
  const std::vector<std::string> ids = narrow.edge.Ids();
  const std::vector<int64_t> highest = narrow.HighestIds();
  const std::string large(30000, 'x');
  const Named fresh("n", {{"host", "a"}, {"dc", "x"}, {"rack", large}});
  // Enough memory for the largest name, but not for all names together.
  narrow.left = uid::Names::MemoryOf(large.size());
  CHECK(narrow.Put(fresh).code() == StatusCode::kExhausted);
  CHECK(narrow.ingest.Resolve(fresh.point, WriteContext::Unlimited()).status().code() ==
        StatusCode::kExhausted);
  CHECK(narrow.ingest.ResolveTsuid(fresh.point, WriteContext::Unlimited()).status().code() ==
        StatusCode::kExhausted);
  const std::string tags = R"({"host":"a","dc":"x","rack":")" + large + "\"}";
  KeyedPoint keyed;
  keyed.series = {Dialect::kJson, "n", tags};
  keyed.time.raw = 1700000001;
  keyed.value = PointValue::Int(1);
  CHECK(narrow.ingest.AppendLearning({&keyed, 1}, WriteContext::Unlimited()).stored == 0);
  CHECK(narrow.edge.Ids() == ids);
  CHECK(narrow.HighestIds() == highest);
  CHECK(narrow.Put(known).ok());
  narrow.left = UINT64_MAX;
  CHECK(narrow.Put(fresh).ok());
  CHECK(narrow.HighestIds() == std::vector<int64_t>{2, 3, 3});
}

TEST_CASE("known series of a batch are stored if there is no memory for new names in the batch") {
  NarrowIngest narrow;
  REQUIRE(narrow.Put(Named("m", {{"host", "a"}})).ok());
  narrow.left = 0;
  const Named points[] = {Named("m", {{"host", "new"}}), Named("m", {{"host", "a"}})};
  const NamedPoint batch[] = {points[0].point, points[1].point};
  std::vector<Status> verdicts;
  narrow.ingest.AppendNamed(batch, WriteContext::Unlimited(), &verdicts);
  CHECK(verdicts.at(0).code() == StatusCode::kExhausted);
  CHECK(verdicts.at(1).ok());
}

TEST_CASE("a point over its metric's rate creates no name") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), {.points_per_s = 1, .series_max = 0});
  Status status;
  for (int i = 0; i < 5 && status.ok(); ++i) status = Store(edge, Named("m", {{"host", "a"}}));
  REQUIRE(status.code() == StatusCode::kLimitExceeded);
  const std::vector<std::string> ids = edge.Ids();
  CHECK(Store(edge, Named("m", {{"host", "new"}})).code() == StatusCode::kLimitExceeded);
  CHECK(edge.Ids() == ids);
}

}  // namespace hg::tsd
