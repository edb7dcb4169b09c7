#include "query/limits.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "query/running.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

RowHour RowOf(uint32_t cells) {
  RowHour row;
  row.stored_cells = cells;
  return row;
}

/// A file that goes with the test.
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

TEST_CASE("limits are looked at before a batch, so one batch always passes") {
  ManualClock clock(0);
  Limits limits;
  limits.cells_max = 10;
  limits.batch_rows = 2;
  LimitCounter counter(limits, clock, nullptr);
  CHECK(counter.Count(RowOf(100)).ok());
  CHECK(counter.Count(RowOf(100)).ok());
  CHECK(counter.Count(RowOf(1)).code() == StatusCode::kLimitExceeded);
}

TEST_CASE("cells up to the limit fail, bytes only beyond it") {
  ManualClock clock(0);
  Limits limits;
  limits.batch_rows = 1;
  limits.cells_max = 2;
  LimitCounter cells(limits, clock, nullptr);
  CHECK(cells.Count(RowOf(1)).ok());
  CHECK(cells.Count(RowOf(1)).ok());
  CHECK_FALSE(cells.Count(RowOf(1)).ok());
  limits.cells_max = 0;
  limits.bytes_max = 1;
  LimitCounter bytes(limits, clock, nullptr);
  CHECK(bytes.Count(RowOf(0)).ok());
  CHECK(bytes.Count(RowOf(1)).ok());
  CHECK_FALSE(bytes.Count(RowOf(1)).ok());
}

TEST_CASE("time runs out between batches") {
  ManualClock clock(0);
  Limits limits;
  limits.batch_rows = 1;
  limits.timeout_ms = 50;
  LimitCounter counter(limits, clock, nullptr);
  clock.AdvanceMs(50);
  CHECK(counter.Count(RowOf(1)).ok());
  clock.AdvanceMs(1);
  CHECK(counter.Count(RowOf(1)).code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE("a file gives metrics limits of their own, and is read again") {
  ManualClock clock(0);
  TemporaryFile file(
      R"([{"regex":"^cpu","byteLimit":7,"dataPointsLimit":3},{"regex":"u","dataPointsLimit":9}])");
  LimitsFile limits(file.path(), 60, clock);
  Options options;
  options.cells_max = 100;
  options.cells_override_allowed = true;
  CHECK(LimitsFor(options, &limits, "cpu.user", false, false)->cells_max == 3);
  CHECK(LimitsFor(options, &limits, "cpu.user", false, false)->bytes_max == 7);
  CHECK(LimitsFor(options, &limits, "cpu.user", true, true)->cells_max == 0);
  CHECK(LimitsFor(options, &limits, "cpu.user", true, true)->bytes_max ==
        7);  // lifting bytes is not allowed
  CHECK(LimitsFor(options, &limits, "bus", false, false)->cells_max == 9);
  CHECK(LimitsFor(options, &limits, "mem", false, false)->cells_max == 100);
  file.Write(R"([{"regex":"mem","dataPointsLimit":5}])");
  CHECK(LimitsFor(options, &limits, "mem", false, false)->cells_max == 100);
  clock.AdvanceMs(60'001);
  CHECK(LimitsFor(options, &limits, "mem", false, false)->cells_max == 5);
  file.Write("not JSON");
  clock.AdvanceMs(60'001);
  CHECK(LimitsFor(options, &limits, "mem", false, false)->cells_max == 5);
}

TEST_CASE("a bad file of limits is told") {
  for (const char* text :
       {"", "{}", "[1]", R"([{"regex":"("}])", R"([{"regex":"a","byteLimit":"x"}])"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(ParseLimitsFile(text).ok());
  }
  ManualClock clock(0);
  LimitsFile missing("/nowhere/limits.json", 60, clock);
  CHECK_FALSE(LimitsFor({}, &missing, "m", false, false).ok());
}

TEST_CASE("the same query of the same client does not enter twice") {
  RunningQueries running;
  Request a, same, other;
  other.start = "1h-ago";
  {
    auto first = running.Enter("10.0.0.1", a);
    CHECK(first.entered());
    CHECK_FALSE(running.Enter("10.0.0.1", same).entered());
    CHECK(running.Enter("10.0.0.2", same).entered());
    CHECK(running.Enter("10.0.0.1", other).entered());
  }
  CHECK(running.Enter("10.0.0.1", same).entered());
}

}  // namespace
}  // namespace hg::query
