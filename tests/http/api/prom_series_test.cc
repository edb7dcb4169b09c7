// Prometheus' HTTP API: lists of series, labels and metadata.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/http/api/prom_fixture.h"

namespace hg::http {

TEST_CASE("a series with ids without names is not shown and does not hide other series") {
  PromFixture f;
  const std::string at = "&start=1700000000&end=1700000000";
  const std::vector<std::string> targets = {
      "/api/v1/series?match[]=%7Bhost%3D%22a%22%7D",
      "/api/v1/series?match[]=%7Bhost%3D~%22a.*%22%7D" + at,
      "/api/v1/labels",
      "/api/v1/labels?match[]=up" + at,
      "/api/v1/label/host/values",
      "/api/v1/label/host/values?match[]=%7B__name__%3D~%22.%2B%22%7D" + at,
      "/api/v1/query?time=1700000000&query=%7Bhost%3D~%22a.*%22%7D",
      "/api/v1/query?time=1700000000&query=count(%7B__name__%3D~%22.%2B%22%7D)",
      "/api/v1/query?time=1700000000&query=up%7Bhost!%3D%22b%22%7D",
      "/api/query?start=1699999999&end=1700000001&m=sum:up%7Bhost%3Dwildcard(a*)%7D",
      "/api/query?start=1699999999&end=1700000001&m=sum:up%7Bhost%3Dnot_literal_or(b)%7D",
      "/api/search/lookup?m=%7Bhost%3Da%7D"};
  for (const bool from_index : {false, true}) {
    f.points.lists_from_index = from_index;
    std::vector<std::string> before;
    for (const std::string& target : targets) before.push_back(f.Get(target));
    const Bytes up = f.Id(UidKind::kMetric, "up"), host = f.Id(UidKind::kTagk, "host"),
                a = f.Id(UidKind::kTagv, "a"), none(3, '\xEE');
    f.AddTsuidAt(none + host + a, 1700000000);
    f.AddTsuidAt(up + host + none, 1700000000);
    f.AddTsuidAt(up + none + a, 1700000000);
    for (size_t i = 0; i < targets.size(); ++i) {
      CAPTURE(targets[i]);
      CHECK(f.Get(targets[i]) == before[i]);
    }
  }
}

TEST_CASE("labels, their values and series are listed") {
  PromFixture f;
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/labels?match[]=up") == Success(R"(["__name__","host"])"));
  CHECK(f.Get("/api/v1/labels?match[]=gone") == Success("[]"));
  CHECK(f.Get("/api/v1/labels?limit=2") == Truncated(R"(["__name__","cpu"])"));
  CHECK(f.Get("/api/v1/labels?limit=3") == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/series?match[]=up&match[]=%7Bhost%3D%22b%22%7D&limit=1") ==
        Truncated(R"([{"__name__":"sys.cpu.user","host":"b"}])"));
  CHECK(f.Get("/api/v1/label/host/values") == Success(R"(["a","b"])"));
  CHECK(f.Get("/api/v1/label/__name__/values") == Success(R"(["sys.cpu.user","up"])"));
  CHECK(f.Get("/api/v1/label/__name__/values?match[]=%7Bcpu%3D%220%22%7D") ==
        Success(R"(["sys.cpu.user"])"));
  CHECK(f.Get("/api/v1/label/host/values?match[]=up&match[]=%7Bcpu%3D%220%22%7D") ==
        Success(R"(["a"])"));
  CHECK(f.Get("/api/v1/label/gone/values") == Success("[]"));
  CHECK(f.Get("/api/v1/series?match[]=%7Bhost%3D%22a%22%7D") ==
        Success(R"([{"__name__":"sys.cpu.user","cpu":"0","host":"a"},)"
                R"({"__name__":"up","host":"a"}])"));
}

// The series of the fixture have one point each, at 1700000000, in the hour from 1699999200 on.

TEST_CASE("with a time range, only series with samples there are listed, rounded to hours") {
  PromFixture f;
  f.points.lists_from_index = true;
  f.AddSeriesAt("up", {{"host", "c"}, {"zone", "z"}}, 1700000000 + 86400);
  const std::string all = "match[]=%7B__name__!%3D%22%22%7D";
  const auto series = [&](const std::string& range) {
    return f.Get("/api/v1/series?match[]=up" + range);
  };
  const std::string a = R"({"__name__":"up","host":"a"})";
  const std::string c = R"({"__name__":"up","host":"c","zone":"z"})";
  CHECK(series("") == Success("[" + a + "," + c + "]"));
  CHECK(series("&start=1700000000&end=1700000000") == Success("[" + a + "]"));
  CHECK(series("&start=1699990000&end=1700000000") == Success("[" + a + "]"));
  CHECK(series("&start=1700002799.999&end=1700002900") == Success("[" + a + "]"));
  CHECK(series("&start=1700002800&end=1700002900") == Success("[]"));
  CHECK(series("&start=1699990000&end=1699999199.999") == Success("[]"));
  CHECK(series("&start=1699990000&end=1699999200") == Success("[" + a + "]"));
  CHECK(series("&start=1700002800") == Success("[" + c + "]"));
  CHECK(series("&end=1700002800") == Success("[" + a + "]"));
  CHECK(series("&start=1700000000&end=1700086400") == Success("[" + a + "," + c + "]"));
  CHECK(series("&start=1700086400&end=1700000000") == Success("[]"));
  CHECK(series("&start=0&end=1") == Success("[]"));
  CHECK(series("&start=&end=") == series(""));

  const std::string early = "start=1700000000&end=1700002000";
  const std::string late = "start=1700086400&end=1700086400";
  const std::string none = "start=1600000000&end=1600000000";
  CHECK(f.Get("/api/v1/labels?" + early) == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/labels?" + late) == Success(R"(["__name__","host","zone"])"));
  CHECK(f.Get("/api/v1/labels?" + none) == Success("[]"));
  CHECK(f.Get("/api/v1/labels?match[]=up&" + early) == Success(R"(["__name__","host"])"));
  CHECK(f.Get("/api/v1/labels?match[]=%7B%22sys.cpu.user%22%7D&" + late) == Success("[]"));
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host","zone"])"));
  CHECK(f.Post("/api/v1/labels", late) == f.Get("/api/v1/labels?" + late));

  CHECK(f.Get("/api/v1/label/host/values?" + early) == Success(R"(["a","b"])"));
  CHECK(f.Get("/api/v1/label/host/values?" + late) == Success(R"(["c"])"));
  CHECK(f.Get("/api/v1/label/host/values?" + none) == Success("[]"));
  CHECK(f.Get("/api/v1/label/host/values?match[]=up&" + early) == Success(R"(["a"])"));
  CHECK(f.Get("/api/v1/label/__name__/values?" + early) == Success(R"(["sys.cpu.user","up"])"));
  CHECK(f.Get("/api/v1/label/__name__/values?" + late) == Success(R"(["up"])"));
  CHECK(f.Get("/api/v1/label/__name__/values?" + none) == Success("[]"));
  CHECK(f.Get("/api/v1/label/__name__/values?" + all + "&" + late) == Success(R"(["up"])"));
  CHECK(f.queries.running().budget().taken() == 0);
}

TEST_CASE("a store without an index of series reads no rows for names without selectors") {
  PromFixture f;
  const std::string none = "start=1600000000&end=1600000000";
  CHECK(f.Get("/api/v1/labels?" + none) == f.Get("/api/v1/labels"));
  CHECK(f.Get("/api/v1/label/__name__/values?" + none) == f.Get("/api/v1/label/__name__/values"));
  CHECK(f.Get("/api/v1/labels?match[]=up&" + none) == Success("[]"));
}

TEST_CASE("the default tag is no label of the series in a time range") {
  PromFixture f;
  f.points.lists_from_index = true;
  f.AddSeriesAt("lonely", {{"source", "unknown"}}, 1700086400);
  CHECK(f.Get("/api/v1/labels?start=1700086400") == Success(R"(["__name__"])"));
  CHECK(f.Get("/api/v1/label/source/values?start=1700086400") == Success("[]"));
}

TEST_CASE("a request for many metrics in a time range lists the series of each metric") {
  PromFixture f;
  f.points.lists_from_index = true;
  std::string expected;
  for (int i = 10; i < 50; ++i) {
    const std::string name = "m" + std::to_string(i);
    f.AddSeriesAt(name, {{"host", "d"}}, i % 2 == 0 ? 1700000000 : 1700086400);
    if (i % 2 == 0) continue;
    expected += std::string(expected.empty() ? "" : ",") + "\"" + name + "\"";
  }
  const std::string late = "start=1700086400&end=1700086400";
  CHECK(f.Get("/api/v1/label/__name__/values?" + late) == Success("[" + expected + "]"));
  CHECK(f.Get("/api/v1/label/__name__/values?match[]=%7B__name__%3D~%22m1.%22%7D&" + late) ==
        Success(R"(["m11","m13","m15","m17","m19"])"));
}

TEST_CASE("the default tag is a label only if the series has other tags") {
  PromFixture f;
  f.AddSeries("lonely", {{"source", "unknown"}});
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host"])"));
  CHECK(f.Get("/api/v1/label/source/values") == Success("[]"));
  CHECK(f.Get("/api/v1/series?match[]=lonely") == Success(R"([{"__name__":"lonely"}])"));
  f.AddSeries("other", {{"source", "s"}});
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host","source"])"));
}

TEST_CASE("the default tag is the one in the settings") {
  PromFixture f;
  f.options.default_tag_key = "via";
  f.options.default_tag_value = "lines";
  f.AddSeries("lonely", {{"via", "lines"}});
  f.AddSeries("named", {{"source", "unknown"}});
  CHECK(f.Get("/api/v1/labels") == Success(R"(["__name__","cpu","host","source"])"));
  CHECK(f.Get("/api/v1/series?match[]=lonely&match[]=named") ==
        Success(R"([{"__name__":"lonely"},{"__name__":"named","source":"unknown"}])"));
  CHECK(f.Get("/api/v1/query?query=lonely&time=1700000000")
            .find(R"("metric":{"__name__":"lonely"})") != std::string::npos);
}

TEST_CASE("a request may have 100 match[] and 100 regular expressions") {
  PromFixture f;
  const auto labels = [&](int count, const std::string& selector) {
    std::string target = "/api/v1/labels?limit=1";
    for (int i = 0; i < count; ++i) target += "&match[]=" + selector;
    return f.Get(target);
  };
  CHECK(labels(100, "up") == Truncated(R"(["__name__"])"));
  CHECK(labels(101, "up") ==
        Failure(400, "bad_data", R"(invalid parameter \"match[]\": given more than 100 times)"));
  CHECK(labels(50, "up%7Ba!~%22b%22,c!~%22d%22%7D") == Truncated(R"(["__name__"])"));
  CHECK(labels(34, "up%7Ba!~%22b%22,c!~%22d%22,e!~%22f%22%7D") ==
        Failure(400, "bad_data",
                R"(invalid parameter \"match[]\": more than 100 regular expressions in all )"
                "match[] parameters"));
}

TEST_CASE("/api/v1/metadata lists what clients said about metrics, in the order of names") {
  PromFixture f;
  CHECK(f.Get("/api/v1/metadata") == Success("{}"));
  f.notes.Describe({"up", "gauge", "Is it \"up\"?", ""});
  f.notes.Describe({"b_total", "counter", "", "seconds"});
  f.notes.Describe({"up", "", "1 = up", ""});  // empty texts do not replace others
  const std::string b = R"("b_total":[{"type":"counter","help":"","unit":"seconds"}])";
  const std::string up = R"("up":[{"type":"gauge","help":"1 = up","unit":""}])";
  CHECK(f.Get("/api/v1/metadata") == Success("{" + b + "," + up + "}"));
  CHECK(f.Get("/api/v1/metadata?limit=1") == Success("{" + b + "}"));
  CHECK(f.Get("/api/v1/metadata?metric=up") == Success("{" + up + "}"));
  CHECK(f.Get("/api/v1/metadata?metric=c") == Success("{}"));
  f.notes.Describe({"plain", "", "", ""});
  CHECK(f.Get("/api/v1/metadata?metric=plain") ==
        Success(R"({"plain":[{"type":"unknown","help":"","unit":""}]})"));
}

TEST_CASE("descriptions of metrics are bounded in number and length") {
  PromFixture f;
  const std::string help(2 * ClientNotes::kTextBytesMax, 'h');
  f.notes.Describe({std::string(ClientNotes::kTextBytesMax + 1, 'm'), "gauge", "", ""});
  CHECK(f.notes.Descriptions("", 10).empty());
  constexpr size_t kMany = 1000;
  f.options.description_bytes_max = kMany * ClientNotes::kTextBytesMax;
  for (size_t i = 0; i < kMany; ++i) f.notes.Describe({std::to_string(i), "gauge", help, ""});
  const auto kept = f.notes.Descriptions("", SIZE_MAX);
  CHECK(kept.size() < kMany);
  CHECK(kept.size() > kMany / 2);
  CHECK(kept[0].help == std::string(ClientNotes::kTextBytesMax, 'h') + "…");
  for (size_t i = 0; i <= ClientNotes::kDatabasesMax; ++i) f.notes.AddDatabase(std::to_string(i));
  CHECK(f.notes.Databases().size() == ClientNotes::kDatabasesMax);
}

TEST_CASE("metadata of scollector becomes type, help text and unit") {
  PromFixture f;
  const auto put = [&f](const std::string& body) {
    return f.Ask("POST", "/api/metadata/put", body).status;
  };
  CHECK(put(R"([{"Metric":"os.cpu","Tags":{"host":"a"},"Name":"desc","Value":"CPU used."},)"
            R"({"Metric":"os.cpu","Tags":null,"Name":"unit","Value":"CHz"},)"
            R"({"Metric":"os.cpu","Tags":null,"Name":"rate","Value":"counter"},)"
            R"({"Tags":{"host":"a"},"Name":"model","Value":"x"},)"
            R"({"Metric":"os.mem","Name":"other","Value":7}, 5])") == 204);
  CHECK(f.Get("/api/v1/metadata?metric=os.cpu") ==
        Success(R"({"os.cpu":[{"type":"counter","help":"CPU used.","unit":"CHz"}]})"));
  CHECK(put("[]") == 204);
  CHECK(put("[{") == 400);
  CHECK(f.Ask("GET", "/api/metadata/put").status == 405);
}

TEST_CASE("all names are listed, whatever pieces they are read in, and their memory is released") {
  PromFixture f;
  constexpr int kMore = 2500;
  for (int i = 0; i < kMore; ++i)
    REQUIRE(f.names.FindOrAssign(UidKind::kMetric, "x." + std::to_string(i)).ok());
  const std::string all = f.Get("/api/v1/label/__name__/values");
  CHECK(std::count(all.begin(), all.end(), ',') == kMore + 2);  // and "data", and two others
  CHECK(f.queries.running().budget().taken() == 0);
}

}  // namespace hg::http
