// A query that is tried on an event loop reads nothing from disk.

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "query/engine.h"
#include "query/plan/validate.h"
#include "storage/codec/annotation.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

constexpr int64_t kLoopStart = 1'700'006'400;

class LoopFixture {
 public:
  LoopFixture() {
    Open();
    tsuid_ = codec::MakeTsuid(
        *names->FindOrAssign(UidKind::kMetric, "m"),
        {*names->FindOrAssign(UidKind::kTagk, "host") + *names->FindOrAssign(UidKind::kTagv, "a")});
    const PointEntry entry = MakePointEntry(*store->points().Register(tsuid_),
                                            Timestamp{kLoopStart}, PointValue::Int(7));
    REQUIRE(store->points().Append({&entry, 1}).ok());
    codec::Annotation note;
    note.tsuid = ToHexUpper(tsuid_);
    note.start_time = kLoopStart;
    note.description = "a note";
    const CellChange put = PutCell("t", Place().qualifier, codec::EncodeAnnotation(note));
    REQUIRE(store->cells().Mutate("tsdb", {{Key(), {put}}}).ok());
    REQUIRE(store->cells().Flush().ok());
    Open();
  }

  Result<Answer> Ask(RunningRequest* running) {
    Request request;
    request.start = std::to_string(kLoopStart);
    request.end = std::to_string(kLoopStart + 60);
    SubQuery query;
    query.aggregator = "sum";
    query.metric = "m";
    query.filters = {{"literal_or", "host", "a", true, false}};
    request.queries.push_back(query);
    ASSIGN_OR_RETURN(ValidQuery valid, engine_->Validate(request, RequestContext::Unlimited()));
    return engine_->Run(valid, {.request = running});
  }

  /// Returns whether the query is answered on an event loop. It must not read a block there.
  bool AnsweredOnLoop() {
    const auto running = engine_->running().Begin("", {});
    running->TryOnLoop(UINT64_MAX);
    const uint64_t blocks_before = store->Stats().blocks_read;
    const Result<Answer> answer = Ask(running.get());
    CHECK(store->Stats().blocks_read == blocks_before);
    CHECK(answer.ok() != running->refused());
    if (!answer.ok()) CHECK(answer.status().code() == StatusCode::kBusy);
    return answer.ok();
  }

  /// Reads the row's cells, but not its points.
  void ReadCells() {
    REQUIRE(store->cells().Get("tsdb", Key(), "t", {Place().qualifier})->cells.size() == 1);
  }

  std::unique_ptr<Embedded> store;
  std::unique_ptr<uid::Names> names;

 private:
  static codec::AnnotationPlace Place() { return codec::PlaceAnnotation(kLoopStart); }
  Bytes Key() {
    return codec::MakeRowKey(store->points().layout(), tsuid_, static_cast<uint32_t>(kLoopStart));
  }
  /// Opens the store with empty caches.
  void Open() {
    engine_.reset();
    names.reset();
    store.reset();
    EmbeddedOptions options;
    options.path = folder_.path();
    options.background = false;
    auto opened = Embedded::Open(options, PosixFileSystem(), clock_);
    REQUIRE(opened.ok());
    store = std::move(*opened);
    names = std::make_unique<uid::Names>(store->cells(), uid::NamesOptions());
    Options query;
    query.timezone = "UTC";
    engine_ =
        std::make_unique<Engine>(store->points(), *names, store->cells(), clock_, query, nullptr);
  }

  const TempFolder folder_;
  const ManualClock clock_{(kLoopStart + 7200) * 1000};
  Bytes tsuid_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

TEST_CASE_FIXTURE(LoopFixture,
                  "a query on an event loop reads no block of names, cells or points") {
  CHECK_FALSE(AnsweredOnLoop());
  const Bytes metric = *names->Find(UidKind::kMetric, "m");
  const Bytes key = *names->Find(UidKind::kTagk, "host");
  const Bytes value = *names->Find(UidKind::kTagv, "a");
  REQUIRE(names->NameOf(UidKind::kMetric, metric).ok());
  REQUIRE(names->NameOf(UidKind::kTagk, key).ok());
  REQUIRE(names->NameOf(UidKind::kTagv, value).ok());
  CHECK_FALSE(AnsweredOnLoop());
  ReadCells();
  CHECK_FALSE(AnsweredOnLoop());
  REQUIRE(Ask(nullptr).ok());
  CHECK(AnsweredOnLoop());
}

TEST_CASE_FIXTURE(LoopFixture, "a look-up of a name on an event loop reads no block") {
  FakeWatch watch;
  watch.StayOnLoop();
  const uint64_t blocks_before = store->Stats().blocks_read;
  CHECK(names->Find(UidKind::kMetric, "m", &watch).status().code() == StatusCode::kBusy);
  CHECK(names->NameOf(UidKind::kTagk, Bytes("\0\0\1", 3), &watch).status().code() ==
        StatusCode::kBusy);
  CHECK(store->Stats().blocks_read == blocks_before);
  CHECK(watch.refused());
  CHECK(names->Find(UidKind::kMetric, "m").ok());
  CHECK(names->Find(UidKind::kMetric, "m", &watch).ok());
}

}  // namespace hg::query
