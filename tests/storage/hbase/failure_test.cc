#include "storage/hbase/failure.h"

#include <doctest/doctest.h>

namespace hg::hbase {
namespace {

StatusCode CodeOf(std::string_view message, std::optional<bool> can_retry = false) {
  return ReadIoError(message, can_retry, "tsdb").status.code();
}

// The cases of hbase-backend.md §6.16.
TEST_CASE("errors of HBase are translated") {
  CHECK(CodeOf("tsdb") == StatusCode::kNotFound);
  CHECK(CodeOf("Failed 2 actions: tsdb: 2 times, servers with issues: null", true) ==
        StatusCode::kNotFound);
  CHECK(CodeOf("tsdb is disabled.") == StatusCode::kUnavailable);
  CHECK(CodeOf("org.apache.hadoop.hbase.TableExistsException: tsdb") == StatusCode::kConflict);
  CHECK(CodeOf("org.apache.hadoop.hbase.DoNotRetryIOException: ... Set "
               "hbase.table.sanity.checks to false") == StatusCode::kInvalidArgument);
  CHECK(CodeOf("org.apache.hadoop.hbase.DoNotRetryIOException: Field is not a long, it's 7 bytes "
               "wide") == StatusCode::kInvalidArgument);
  CHECK(CodeOf("java.lang.ClassNotFoundException: a.Filter") == StatusCode::kUnsupported);
  CHECK(CodeOf("org.apache.hadoop.hbase.exceptions.DeserializationException: ...", true) ==
        StatusCode::kUnsupported);
  CHECK(CodeOf("callTimeout=20000, callDuration=20001", true) == StatusCode::kUnavailable);
  CHECK(CodeOf("anything else", false) == StatusCode::kIoError);
  CHECK(CodeOf("anything else", true) == StatusCode::kUnavailable);
}

TEST_CASE("HBase's hint to retry is used only for errors that a retry can cure") {
  const auto temporary = [](std::string_view message, std::optional<bool> can_retry) {
    return ReadIoError(message, can_retry, "tsdb").temporary;
  };
  CHECK(temporary("Failed after attempts=4", true));
  CHECK(temporary("unset by older servers", std::nullopt));
  CHECK_FALSE(temporary("whatever", false));
  // A batch claims that a retry helps, whatever its error is.
  CHECK_FALSE(temporary("Failed 1 action: NoSuchColumnFamilyException: 1 time", true));
  CHECK_FALSE(temporary("Failed 1 action: DoNotRetryIOException: 1 time", true));
  CHECK(temporary("Failed 2 actions: RegionTooBusyException: 2 times", true));
  CHECK(ReadIoError("Failed 2 actions: RegionTooBusyException", true, "t").status.code() ==
        StatusCode::kBusy);
}

TEST_CASE("of a message with a stack trace the first line is used") {
  CHECK(FirstLine("one\n\tat two\n\tat three") == "one");
  CHECK(FirstLine("Failed after attempts=2, exceptions:\n2026 one\n\tat two") ==
        "Failed after attempts=2, exceptions: 2026 one");
  CHECK(FirstLine("\n\none") == "one");
  CHECK(FirstLine("").empty());
  const Failure failure = ReadIoError("java.io.IOException: broken\n\tat a.b.C", false, "t");
  CHECK(failure.status.message() == "HBase: java.io.IOException: broken");
}

}  // namespace
}  // namespace hg::hbase
