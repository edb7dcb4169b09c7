#include "query/promql/label_selector.h"

#include "tests/query/engine_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

using promql::Matcher;
using promql::MatchKind;

constexpr int64_t kHour = 1'500'008'400;
constexpr auto kEqual = MatchKind::kEqual, kNotEqual = MatchKind::kNotEqual;
constexpr auto kMatches = MatchKind::kMatches, kMatchesNot = MatchKind::kMatchesNot;

struct Condition {
  const char* label;
  MatchKind kind;
  const char* value;
};

using Texts = std::vector<std::string>;

class Labelled : public EngineFixture {
 public:
  FakeWatch watch;
  LabelNaming naming;

  void Put(const std::string& metric, const Tags& tags) {
    EngineFixture::Put(metric, tags, kHour, 1);
  }

  /// Returns the labels of the selected series, or the error.
  Texts Find(const std::vector<Condition>& conditions) {
    promql::Matchers matchers;
    for (const Condition& c : conditions)
      matchers.push_back(*Matcher::Make(c.label, c.kind, c.value));
    Texts found;
    const Status status = Select(matchers, &found);
    if (!status.ok()) found.push_back(status.ToString());
    return found;
  }
  /// Returns "metric:host " for each series.
  std::string Hosts(const std::vector<Condition>& conditions) {
    std::string hosts;
    for (const std::string& text : Find(conditions)) {
      const auto value = [&](const std::string& name) {
        const size_t at = text.find(name + "=\"");
        if (at == std::string::npos) return std::string();
        const size_t begin = at + name.size() + 2;
        return text.substr(begin, text.find('"', begin) - begin);
      };
      hosts += value("__name__") + ":" + value("host") + " ";
    }
    return hosts;
  }

 private:
  Status Select(const promql::Matchers& matchers, Texts* found) {
    NameMemo memo(names);
    LabelNames label_names(naming, points.layout(), &memo, &names);
    ASSIGN_OR_RETURN(LabelSelector selector,
                     LabelSelector::Resolve(matchers, points, &label_names, &watch));
    for (const auto& [metric, name] : selector.metrics()) {
      Status status;
      RETURN_IF_ERROR(points.ListSeries(metric, selector.matcher(), nullptr, [&](ByteView tsuid) {
        const Result<bool> admitted = selector.Admits(tsuid);
        status = admitted.status();
        if (!status.ok() || !*admitted) return status.ok();
        const Result<promql::Labels> labels = label_names.LabelsOf(tsuid);
        status = labels.status();
        if (status.ok()) found->push_back(labels->Text());
        return status.ok();
      }));
      RETURN_IF_ERROR(status);
    }
    return {};
  }
};

}  // namespace

TEST_CASE_FIXTURE(Labelled, "matchers select like those of Prometheus: an absent label is \"\"") {
  Put("up", {{"host", "a"}, {"dc", "x"}});
  Put("up", {{"host", "b"}, {"dc", "y"}});
  Put("up", {{"host", "c"}});
  Put("down", {{"host", "d"}, {"dc", "x"}});
  const Condition up = {"__name__", kEqual, "up"};
  CHECK(Hosts({up}) == "up:a up:b up:c ");
  CHECK(Hosts({up, {"dc", kEqual, "x"}}) == "up:a ");
  CHECK(Hosts({up, {"dc", kEqual, ""}}) == "up:c ");
  CHECK(Hosts({up, {"dc", kEqual, "z"}}).empty());
  CHECK(Hosts({up, {"dc", kNotEqual, "x"}}) == "up:b up:c ");
  CHECK(Hosts({up, {"dc", kNotEqual, ""}}) == "up:a up:b ");
  CHECK(Hosts({up, {"dc", kNotEqual, "z"}}) == "up:a up:b up:c ");
  CHECK(Hosts({up, {"dc", kMatches, "x|y"}}) == "up:a up:b ");
  CHECK(Hosts({up, {"dc", kMatches, ""}}) == "up:c ");
  CHECK(Hosts({up, {"dc", kMatches, "x?"}}) == "up:a up:c ");
  CHECK(Hosts({up, {"host", kMatches, "a"}, {"host", kMatches, "b"}}).empty());
  CHECK(Hosts({up, {"host", kMatches, "[ab]"}, {"dc", kMatchesNot, "y"}}) == "up:a ");
  CHECK(Hosts({up, {"dc", kMatchesNot, "x"}}) == "up:b up:c ");
  CHECK(Hosts({up, {"dc", kMatchesNot, ".*"}}).empty());
  CHECK(Hosts({up, {"dc", kMatchesNot, ".+"}}) == "up:c ");
  CHECK(Hosts({up, {"rack", kEqual, "x"}}).empty());  // no series has this label
  CHECK(Hosts({up, {"rack", kNotEqual, "x"}}) == "up:a up:b up:c ");
  CHECK(Hosts({up, {"rack", kMatches, ".+"}}).empty());
  CHECK(Hosts({up, {"rack", kMatchesNot, ".+"}}) == "up:a up:b up:c ");
}

TEST_CASE_FIXTURE(Labelled, "of a tag key that a TSUID repeats, the last value counts") {
  const Bytes metric = Id(UidKind::kMetric, "up"), host = Id(UidKind::kTagk, "host"),
              dc = Id(UidKind::kTagk, "dc"), a = Id(UidKind::kTagv, "a"),
              b = Id(UidKind::kTagv, "b");
  for (const int repeats : {1, 10'000}) {  // long TSUIDs are shortened first
    CAPTURE(repeats);
    Bytes tsuid = metric + dc + b;
    for (int i = 0; i < repeats; ++i) tsuid += host + a;
    tsuid += host + b;
    NameMemo memo(names);
    LabelNames label_names(naming, points.layout(), &memo, &names);
    CHECK(label_names.LabelsOf(tsuid)->Text() == R"({__name__="up", dc="b", host="b"})");
  }
}

TEST_CASE_FIXTURE(Labelled, "the metric name is a label like others and need not be given") {
  Put("up", {{"host", "a"}, {"dc", "x"}});
  Put("down", {{"host", "d"}, {"dc", "x"}});
  Put("down", {{"host", "e"}, {"dc", "y"}});
  CHECK(Hosts({{"__name__", kEqual, "none"}}).empty());
  CHECK(Hosts({{"__name__", kEqual, ""}}).empty());
  CHECK(Hosts({{"__name__", kMatches, ".*o.*"}}) == "down:d down:e ");
  CHECK(Hosts({{"__name__", kNotEqual, "up"}}) == "down:d down:e ");
  CHECK(Hosts({{"__name__", kMatchesNot, "u."}, {"dc", kEqual, "x"}}) == "down:d ");
  CHECK(Hosts({{"__name__", kEqual, "up"}, {"__name__", kMatches, "d.*"}}).empty());
  CHECK(Hosts({{"dc", kEqual, "x"}}) == "up:a down:d ");
  CHECK(Hosts({}) == "up:a down:d down:e ");
}

TEST_CASE_FIXTURE(Labelled, "escaped names are shown and found by their texts") {
  Put("a_x003A_b", {{"x_x0020_y", "localhost_x003A_9090"}});
  const Condition of_ab = {"__name__", kEqual, "a:b"};
  const Texts found = {R"({__name__="a:b", x y="localhost:9090"})"};
  CHECK(Find({of_ab}) == found);
  CHECK(Find({of_ab, {"x y", kEqual, "localhost:9090"}}) == found);
  CHECK(Find({of_ab, {"x y", kMatches, "localhost:.*"}}) == found);
  CHECK(Find({{"__name__", kMatches, "a:."}}) == found);
  CHECK(Find({of_ab, {"x y", kEqual, "localhost_x003A_9090"}}).empty());
  CHECK(Find({{"__name__", kEqual, "a_x003A_b"}}).empty());
}

TEST_CASE_FIXTURE(Labelled, "a name that only OpenTSDB's API can have written is shown as stored") {
  Put("m", {{"_x0041_", "_x0062_"}, {"A", "b"}});
  const Condition of_m = {"__name__", kEqual, "m"};
  const Texts found = {R"({A="b", __name__="m", _x0041_="_x0062_"})"};
  CHECK(Find({of_m}) == found);
  CHECK(Find({of_m, {"_x0041_", kEqual, "_x0062_"}}) == found);
  CHECK(Find({of_m, {"_x0041_", kMatches, "_x0062_|c"}}) == found);
  CHECK(Find({of_m, {"A", kEqual, "b"}}) == found);
  CHECK(Find({of_m, {"_x0041_", kEqual, "b"}}).empty());
  CHECK(Find({of_m, {"A", kEqual, "_x0062_"}}).empty());
}

TEST_CASE_FIXTURE(Labelled, "a tag __name__ does not replace the metric") {
  Put("m", {{"__name__", "up"}, {"host", "a"}});
  const Texts found = {R"({__name__="m", _x005F__name__="up", host="a"})"};
  CHECK(Find({{"__name__", kEqual, "m"}}) == found);
  CHECK(Find({{"_x005F__name__", kEqual, "up"}}) == found);
  CHECK(Find({{"__name__", kEqual, "up"}}).empty());
}

TEST_CASE_FIXTURE(
    Labelled,
    "metrics and tags that are stored plain or escaped are both found by their plain names") {
  Put("a:b", {{"host", "x"}, {"k:1", "v:1"}});
  Put("a_x003A_b", {{"host", "y"}, {"k_x003A_1", "v_x003A_1"}});
  CHECK(Hosts({{"__name__", kEqual, "a:b"}}) == "a:b:x a:b:y ");
  CHECK(Hosts({{"k:1", kEqual, "v:1"}}) == "a:b:x a:b:y ");
  CHECK(Hosts({{"k:1", kNotEqual, "v:1"}}).empty());
}

TEST_CASE_FIXTURE(Labelled, "a stored name that is partly escaped is found by its plain text") {
  naming.extra_name_characters = " ";
  Put("GET /a_x003A_b", {{"host", "GET /a_x003A_b"}});
  CHECK(Hosts({{"__name__", kEqual, "GET /a:b"}}) == "GET /a:b:GET /a:b ");
  CHECK(Hosts({{"host", kEqual, "GET /a:b"}}) == "GET /a:b:GET /a:b ");
}

TEST_CASE_FIXTURE(Labelled,
                  "a name that other settings escape partly is found in lists of plain texts") {
  Put("GET /a_x003A_b", {{"host", "GET /a_x003A_b"}});
  Put("m", {{"host", "_x043F_:"}});
  CHECK(Hosts({{"__name__", kMatches, "GET /a:b|x"}}) == "GET /a:b:GET /a:b ");
  CHECK(Hosts({{"host", kMatches, "GET /a:b|x"}}) == "GET /a:b:GET /a:b ");
  CHECK(Hosts({{"host", kMatches, "\u043f:|x"}}) == "m:\u043f: ");
  // Text that looks like an escape is itself escaped.
  Put("m", {{"host", "a_x005F_x003A_b:"}});
  CHECK(Hosts({{"host", kMatches, "a_x003A_b:|x"}}) == "m:a_x003A_b: ");
}

TEST_CASE_FIXTURE(Labelled, "the default tag is not a label") {
  Put("m", {{"source", "unknown"}});
  Put("m", {{"_x0073_ource", "unknown"}});
  Put("m", {{"source", "unknown"}, {"host", "a"}});
  Put("m", {{"host", "b"}});
  const Condition of_m = {"__name__", kEqual, "m"};
  const std::string none = R"({__name__="m"})", one = R"({__name__="m", source="unknown"})",
                    both = R"({__name__="m", host="a", source="unknown"})",
                    other = R"({__name__="m", host="b"})";
  CHECK(Find({of_m}) == Texts{none, both, one, other});
  CHECK(Find({of_m, {"source", kEqual, ""}}) == Texts{none, other});
  CHECK(Find({of_m, {"source", kEqual, "unknown"}}) == Texts{both, one});
  CHECK(Find({of_m, {"source", kNotEqual, "unknown"}}) == Texts{none, other});
}

TEST_CASE_FIXTURE(
    Labelled,
    "the default tag can be configured; series with the previous one have it as a label") {
  naming.default_tag_key = "via";
  naming.default_tag_value = "lines";
  Put("m", {{"via", "lines"}});
  Put("m", {{"_x0076_ia", "lines"}});
  Put("m", {{"source", "unknown"}});
  Put("m", {{"_x0073_ource", "unknown"}});
  const Condition of_m = {"__name__", kEqual, "m"};
  const std::string none = R"({__name__="m"})", via = R"({__name__="m", via="lines"})",
                    source = R"({__name__="m", source="unknown"})";
  CHECK(Find({of_m}) == Texts{none, via, source, source});
  CHECK(Find({of_m, {"via", kEqual, "lines"}}) == Texts{via});
  CHECK(Find({of_m, {"via", kEqual, ""}}) == Texts{none, source, source});
  CHECK(Find({of_m, {"source", kEqual, "unknown"}}) == Texts{source, source});
  CHECK(Find({of_m, {"source", kMatches, ""}}) == Texts{none, via});
}

TEST_CASE_FIXTURE(Labelled, "no pattern matches a value whose id has no name") {
  Put("m", {{"host", "a"}});
  REQUIRE(names.Delete(UidKind::kTagv, "a").ok());
  names.DropCaches();
  for (const Condition& c : {Condition{"host", kEqual, "b"}, Condition{"host", kMatches, "b|c"},
                             Condition{"host", kMatches, "b.*"}, Condition{"host", kMatches, ".*"},
                             Condition{"host", kMatchesNot, "b.*"}}) {
    CHECK(Find({c}).empty());
  }
}

TEST_CASE_FIXTURE(Labelled, "the work of examining all series is reported") {
  for (int i = 0; i < 100; ++i) Put("m", {{"host", std::to_string(i)}});
  CHECK(Find({{"host", kEqual, "5"}}).size() == 1);
  watch.steps = 0;
  watch.steps_max = 50;
  CHECK(Find({}) == Texts{"deadline exceeded: too many steps"});
}

TEST_CASE_FIXTURE(Labelled, "the work of matchers of many labels is reported for each series") {
  constexpr int kSeries = 100, kLabels = 50;
  std::vector<std::string> labels;
  for (int i = 0; i < kLabels; ++i) {
    labels.push_back("label" + std::to_string(i));
    Put("other", {{labels.back(), "x"}});
  }
  for (int i = 0; i < kSeries; ++i) Put("m", {{"host", std::to_string(i)}});
  std::vector<Condition> conditions = {{"__name__", kEqual, "m"}};
  for (const std::string& label : labels) conditions.push_back({label.c_str(), kNotEqual, "x"});
  CHECK(Find({conditions[0]}).size() == kSeries);
  const uint64_t of_series = watch.steps.exchange(0);
  CHECK(Find(conditions).size() == kSeries);
  CHECK(watch.steps > of_series + kSeries * kLabels * 2);  // one pair for each label
}

TEST_CASE_FIXTURE(Labelled, "many matchers of one label cache one verdict per value") {
  constexpr int kValues = 300, kMatchers = 200;
  for (int i = 0; i < kValues; ++i) Put("m", {{"host", std::to_string(i)}});
  std::vector<std::string> texts;
  for (int i = 0; i < kMatchers; ++i) texts.push_back("a" + std::to_string(i));
  std::vector<Condition> conditions = {{"__name__", kEqual, "m"}};
  for (const std::string& text : texts) conditions.push_back({"host", kNotEqual, text.c_str()});
  CHECK(Find(conditions).size() == kValues);
  CHECK(watch.steps > kValues * kMatchers);
  CHECK(watch.bytes_most < 512 << 10);
  watch.steps = 0;
  watch.steps_max = kValues * kMatchers / 2;
  CHECK(Find(conditions).back() == "deadline exceeded: too many steps");
  watch.steps = 0;
  watch.steps_max = UINT64_MAX;
  watch.bytes_max = watch.bytes + (64 << 10);
  CHECK(Find(conditions).back() == "limit exceeded: too many bytes");
}

TEST_CASE_FIXTURE(Labelled, "the names of selected metrics are charged") {
  constexpr int kMetrics = 20, kNameBytes = 20'000;
  for (int i = 0; i < kMetrics; ++i)
    Put(std::to_string(i) + std::string(kNameBytes, 'x'), {{"host", "a"}});
  for (const Condition& condition :
       {Condition{"host", kEqual, "a"}, Condition{"__name__", kMatches, "[0-9]+x+"}}) {
    CHECK(Find({condition}).size() == kMetrics);
    CHECK(watch.bytes_most > kMetrics * kNameBytes);
    watch.bytes_most = 0;
  }
}

TEST_CASE("an underscored name has only characters that PromQL needs no quotes for") {
  CHECK(UnderscoredName("room.temp") == "room_temp");
  CHECK(UnderscoredName("a:b_c9") == "a:b_c9");
  CHECK(UnderscoredName("9a/-é€z") == "_a____z");
  CHECK(UnderscoredName("").empty());
}

TEST_CASE_FIXTURE(Labelled, "with underscored metrics, both names of a metric select it") {
  naming.underscored_metrics = true;
  Put("room.temp", {{"host", "a"}});
  Put("room_x0020_size", {{"host", "b"}});  // "room size", escaped
  Put("é.up", {{"host", "c"}});
  Put("up", {{"host", "d"}});
  CHECK(Hosts({{"__name__", kEqual, "room_temp"}}) == "room_temp:a ");
  CHECK(Hosts({{"__name__", kEqual, "room.temp"}}) == "room_temp:a ");
  CHECK(Hosts({{"__name__", kEqual, "room_size"}}) == "room_size:b ");
  CHECK(Hosts({{"__name__", kEqual, "__up"}}) == "__up:c ");
  CHECK(Hosts({{"__name__", kEqual, "room"}}).empty());
  CHECK(Hosts({{"__name__", kEqual, "room_temp_"}}).empty());
  CHECK(Hosts({{"__name__", kMatches, "room_(temp|size)|up"}}) == "room_temp:a room_size:b up:d ");
  CHECK(Hosts({{"__name__", kMatches, "room_.*"}}) == "room_temp:a room_size:b ");
  CHECK(Hosts({{"__name__", kMatches, "room[.].*"}}) == "room_temp:a ");
  CHECK(Hosts({{"__name__", kNotEqual, "room_temp"}, {"host", kMatches, "a|b"}}) == "room_size:b ");
  CHECK(Hosts({{"__name__", kMatchesNot, "room[.].*"}, {"host", kMatches, "a|b"}}) ==
        "room_size:b ");
  CHECK(Hosts({{"host", kEqual, "a"}}) == "room_temp:a ");
  naming.underscored_metrics = false;
  CHECK(Hosts({{"__name__", kEqual, "room_temp"}}).empty());
  CHECK(Hosts({{"host", kEqual, "a"}}) == "room.temp:a ");
}

TEST_CASE_FIXTURE(
    Labelled,
    "a metric with exactly the underscored name hides metrics that are only shown under it") {
  naming.underscored_metrics = true;
  Put("room.temp", {{"host", "a"}});
  Put("room-temp", {{"host", "b"}});
  CHECK(Hosts({{"__name__", kEqual, "room_temp"}}) == "room_temp:a room_temp:b ");
  Put("room_temp", {{"host", "c"}});
  CHECK(Hosts({{"__name__", kEqual, "room_temp"}}) == "room_temp:c ");
  CHECK(Hosts({{"__name__", kMatches, "room_t.*"}}) == "room_temp:c ");
  CHECK(Hosts({{"__name__", kEqual, "room.temp"}}) == "room_temp:a ");
}

TEST_CASE_FIXTURE(Labelled,
                  "the work of searching metrics by their underscored names is reported") {
  naming.underscored_metrics = true;
  for (int i = 0; i < 200; ++i) Put("room.t" + std::to_string(i), {{"host", "a"}});
  watch.steps_max = 1000;
  CHECK(Find({{"__name__", kEqual, "room_t5"}}) == Texts{"deadline exceeded: too many steps"});
  watch.steps = 0;
  CHECK(Hosts({{"__name__", kEqual, "other_t5"}}).empty());  // reads no name of another prefix
}

TEST_CASE_FIXTURE(Labelled, "contradicting matchers of one label select nothing") {
  Put("m", {{"host", "a"}, {"dc", "x"}});
  Put("m", {{"host", "b"}});
  const Condition of_m = {"__name__", kEqual, "m"};
  CHECK(Hosts({of_m, {"host", kEqual, "a"}, {"host", kEqual, "a"}}) == "m:a ");
  CHECK(Hosts({of_m, {"host", kEqual, "a"}, {"host", kEqual, "b"}}).empty());
  CHECK(Hosts({of_m, {"host", kMatches, "a|b"}, {"host", kMatches, "b|c"}}) == "m:b ");
  CHECK(Hosts({of_m, {"dc", kEqual, ""}, {"dc", kNotEqual, ""}}).empty());
  CHECK(Hosts({of_m, {"dc", kEqual, ""}, {"dc", kEqual, ""}}) == "m:b ");
  CHECK(Hosts({of_m, {"dc", kNotEqual, ""}, {"dc", kEqual, "x"}}) == "m:a ");
  CHECK(Hosts({of_m, {"dc", kEqual, ""}, {"dc", kEqual, "x"}}).empty());
}

TEST_CASE_FIXTURE(Labelled, "the work of looking up listed texts is reported") {
  Put("m", {{"host", "a"}});
  std::string pattern = "a";
  for (int i = 0; i < 200; ++i) pattern += "|b" + std::to_string(i);
  CHECK(Hosts({{"host", kMatches, pattern.c_str()}}) == "m:a ");
  watch.steps = 0;
  watch.steps_max = 1000;
  CHECK(Find({{"host", kMatches, pattern.c_str()}}) == Texts{"deadline exceeded: too many steps"});
  CHECK(watch.steps < 1100);
}

}  // namespace hg::query
