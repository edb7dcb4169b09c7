#include "query/request/limits.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

RowHour RowOf(uint32_t cells) {
  RowHour row;
  row.stored_cells = cells;
  return row;
}

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    close(mkstemp(path_.data()));
    Write(text);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/limits-test-XXXXXX";
};

TEST_CASE("limits are checked before a batch, so one batch always passes") {
  FakeWatch watch;
  Limits limits;
  limits.cells_max = 10;
  limits.batch_rows = 2;
  LimitCounter counter(limits, watch);
  CHECK(counter.Count(RowOf(100)).ok());
  CHECK(counter.Count(RowOf(100)).ok());
  CHECK(counter.Count(RowOf(1)).code() == StatusCode::kLimitExceeded);
}

TEST_CASE("reaching the limit of cells fails, and bytes fail only beyond their limit") {
  FakeWatch watch;
  Limits limits;
  limits.batch_rows = 1;
  limits.cells_max = 2;
  LimitCounter cells(limits, watch);
  CHECK(cells.Count(RowOf(1)).ok());
  CHECK(cells.Count(RowOf(1)).ok());
  CHECK_FALSE(cells.Count(RowOf(1)).ok());
  limits.cells_max = 0;
  limits.bytes_max = 1;
  LimitCounter bytes(limits, watch);
  CHECK(bytes.Count(RowOf(0)).ok());
  CHECK(bytes.Count(RowOf(1)).ok());
  CHECK_FALSE(bytes.Count(RowOf(1)).ok());
}

TEST_CASE("rows are reported to the request in groups, and the request can stop the count") {
  FakeWatch watch;
  watch.steps_max = 64 * 100;  // a row counts as 64 steps in addition to its points
  LimitCounter counter({}, watch);
  Status status;
  size_t rows = 0;
  for (; rows < 1000 && status.ok(); ++rows) status = counter.Count(RowOf(1));
  CHECK(status.code() == StatusCode::kDeadlineExceeded);
  CHECK(rows > 90);
  CHECK(rows < 140);
}

TEST_CASE("a file sets limits for single metrics and is read again") {
  FakeWatch watch;
  ManualClock clock(0);
  TemporaryFile file(
      R"([{"regex":"^cpu","byteLimit":7,"dataPointsLimit":3},{"regex":"u","dataPointsLimit":9}])");
  LimitsFile limits(file.path(), 60, clock);
  Options options;
  options.cells_max = 100;
  options.cells_override_allowed = true;
  CHECK(LimitsFor(options, &limits, "cpu.user", watch, false, false)->cells_max == 3);
  CHECK(LimitsFor(options, &limits, "cpu.user", watch, false, false)->bytes_max == 7);
  CHECK(LimitsFor(options, &limits, "cpu.user", watch, true, true)->cells_max == 0);
  CHECK(LimitsFor(options, &limits, "cpu.user", watch, true, true)->bytes_max ==
        7);  // the limit of bytes cannot be lifted
  CHECK(LimitsFor(options, &limits, "bus", watch, false, false)->cells_max == 9);
  CHECK(LimitsFor(options, &limits, "mem", watch, false, false)->cells_max == 100);
  file.Write(R"([{"regex":"mem","dataPointsLimit":5}])");
  CHECK(LimitsFor(options, &limits, "mem", watch, false, false)->cells_max == 100);
  clock.AdvanceMs(60'001);
  CHECK(LimitsFor(options, &limits, "mem", watch, false, false)->cells_max == 5);
  file.Write("not JSON");
  clock.AdvanceMs(60'001);
  CHECK(LimitsFor(options, &limits, "mem", watch, false, false)->cells_max == 5);
}

TEST_CASE("limits of metrics may be in the setting itself") {
  FakeWatch watch;
  ManualClock clock(0);
  LimitsFile limits(R"([{"regex":"cpu","dataPointsLimit":3}])", 60, clock);
  CHECK(LimitsFor({}, &limits, "cpu.user", watch, false, false)->cells_max == 3);
  LimitsFile wrong("[{}]", 60, clock);
  CHECK_FALSE(LimitsFor({}, &wrong, "cpu.user", watch, false, false).ok());
}

TEST_CASE("on an event loop, a file of limits that must be read is refused") {
  ManualClock clock(0);
  TemporaryFile file(R"([{"regex":"cpu","dataPointsLimit":3}])");
  LimitsFile limits(file.path(), 60, clock);
  FakeWatch watch, on_loop;
  on_loop.StayOnLoop();
  CHECK(LimitsFor({}, &limits, "cpu", on_loop, false, false).status().code() == StatusCode::kBusy);
  CHECK(on_loop.refused());
  CHECK(LimitsFor({}, &limits, "cpu", watch, false, false)->cells_max == 3);
  CHECK(LimitsFor({}, &limits, "cpu", on_loop, false, false)->cells_max == 3);
  clock.AdvanceMs(60'001);
  CHECK_FALSE(LimitsFor({}, &limits, "cpu", on_loop, false, false).ok());
}

TEST_CASE("an invalid file of limits is reported") {
  FakeWatch watch;
  for (const char* text :
       {"", "{}", "[1]", R"([{"regex":"("}])", R"([{"regex":"a","byteLimit":"x"}])"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(ParseLimitsFile(text).ok());
  }
  ManualClock clock(0);
  LimitsFile missing("/nowhere/limits.json", 60, clock);
  CHECK_FALSE(LimitsFor({}, &missing, "m", watch, false, false).ok());
}

}  // namespace
}  // namespace hg::query
