// Sends whole requests and telnet lines to a complete daemon over a store in memory. Each gets a
// response of its protocol, and the next one is served as well.
//
// Input: "telnet
// " and lines, or "METHOD TARGET
// " and a body.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/routes/router.h"
#include "http/telnet/lines.h"
#include "http/wire/json_value.h"
#include "storage/base/invariant.h"
#include "storage/model/utf8.h"
#include "tests/http/edge_fixture.h"
#include "tsd/ingest/histogram_ingest.h"
#include "tsd/ingest/rollup_ingest.h"
#include "uid/series_tracker.h"

namespace hg::http {
namespace {

/// The number of inputs after which the daemon is created again, because inputs leave data in it.
constexpr int kInputsPerDaemon = 200;

constexpr std::string_view kTelnet = "telnet\n";

class Daemon {
 public:
  Daemon() {
    for (const char* table : {"tsdb-tree", "tsdb-rollup-1h", "tsdb-agg-1h"})
      INVARIANT(edge_->store.CreateTable({table, {{"t"}}, false}).ok());
    edge_->services.histograms = &histograms_;
    edge_->services.rollups = &rollups_;
    edge_->options.histogram_codec_id = 0;
    edge_->options.diediedie_enabled = false;
    const BufferResponse first = edge_->Post(
        "/api/put", R"([{"metric":"m","timestamp":1700000000,"value":1,"tags":{"h":"a","d":"x"}},
          {"metric":"m","timestamp":1700000060,"value":2.5,"tags":{"h":"b"}}])");
    INVARIANT(first.status == 204);
  }

  void Http(std::string_view head, std::string_view body) {
    const size_t blank = head.find(' ');
    if (blank == std::string_view::npos || head.substr(blank + 1, 1) != "/") return;
    // The method must consist of capital letters. The parser of request heads accepts all of them.
    if (head.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") < blank) return;
    Request request;
    request.method_text = head.substr(0, blank);
    request.method = MethodOf(request.method_text);
    request.target = head.substr(blank + 1);
    request.body = body;
    request.remote = "127.0.0.1:1";
    if (!ParseTarget(&request)) return;
    BufferResponse reply;
    Dispatch(request, edge_->services, reply);
    INVARIANT(reply.status >= 200 && reply.status < 600);
    if (reply.content_type.starts_with("application/json") && !reply.body.empty() &&
        !request.parameters.Has("jsonp"))
      INVARIANT(ParseJson(reply.body, nullptr).ok() && IsUtf8(reply.body));
    INVARIANT(reply.status < 400 || !reply.body.empty());
  }

  void Telnet(std::string_view lines) {
    std::string text(lines);
    text += '\n';
    std::string_view rest = text;
    while (!rest.empty()) {
      const LinesResult result = RunTelnetLines(rest, edge_->services);
      if (result.close || result.shut_down) break;
      INVARIANT(result.used > 0 && result.used <= rest.size() && !result.busy);
      INVARIANT(result.text.empty() || result.text.ends_with('\n'));
      rest.remove_prefix(result.used);
    }
  }

  /// Checks that the next request is answered, whatever the previous one was.
  void CheckServes() {
    BufferResponse reply;
    Request request = MakeRequest("GET", "/api/version");
    Dispatch(request, edge_->services, reply);
    INVARIANT(reply.status == 200);
  }

 private:
  static tsd::RollupIngestOptions Rollups() {
    tsd::RollupIngestOptions options;
    options.tables.aggregator_ids = {{"sum", 0}, {"count", 1}};
    codec::RollupLevel hours;
    hours.name = "1h";
    hours.table = "tsdb-rollup-1h";
    hours.pre_aggregate_table = "tsdb-agg-1h";
    constexpr auto kDays = codec::RollupSpanUnit::kDays;
    hours.interval = {3600, kDays, 1, codec::RollupIntervalsPerRow(3600, kDays, 1)};
    hours.is_default = true;
    options.tables.levels = {hours};
    return options;
  }

  std::unique_ptr<EdgeFixture> edge_ = std::make_unique<EdgeFixture>();
  uid::SeriesTracker tracker_{edge_->store, edge_->clock, {}};
  tsd::HistogramIngest histograms_{edge_->ingest, edge_->store, {}, "tsdb", tracker_};
  tsd::RollupIngest rollups_{edge_->ingest, edge_->store, {}, Rollups()};
};

}  // namespace
}  // namespace hg::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hg::http;
  static doctest::Context context;  // for the checks of the fixture
  static std::unique_ptr<Daemon> daemon;
  static int inputs = 0;
  if (inputs++ % kInputsPerDaemon == 0) {
    context.setAsDefaultForAssertsOutOfTestCases();
    daemon = std::make_unique<Daemon>();
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with(kTelnet)) {
    daemon->Telnet(text.substr(kTelnet.size()));
  } else {
    const size_t end = std::min(text.find('\n'), text.size());
    daemon->Http(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
  }
  daemon->CheckServes();
  return 0;
}
