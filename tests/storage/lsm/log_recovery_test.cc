#include "storage/lsm/log_recovery.h"

#include <doctest/doctest.h>

#include <map>

#include "storage/base/crc32c.h"
#include "storage/lsm/log.h"
#include "tests/fault/faulty_file.h"
#include "tests/fault/no_threads.h"

namespace hg::lsm {
namespace {

constexpr char kFirstFile[] = "log/000000000001.log";

using Records = std::map<uint64_t, Bytes>;

Result<LogRecovery> RecoverWhole(FaultyFileSystem& disk, Records* records) {
  records->clear();
  return RecoverLog(disk, "log", 1, 0, 0, [&](const LogRecord& record) {
    (*records)[record.sequence] = record.body;
    return Status();
  });
}

/// A value that a client may send: the bytes of a record with that synced position.
Bytes LooksLikeARecord(uint64_t file_number, LogPosition synced) {
  const Bytes body = "nothing of ours";
  char header[kLogRecordHeaderBytes];
  EncodeLogRecordHeader(
      file_number,
      {static_cast<uint32_t>(body.size()), crc32c::Value(body), uint64_t{1} << 40, synced, 7},
      header);
  return Bytes(header, sizeof header) + body;
}

/// A log to which a test adds records. By default no caller waits for a sync, so the records
/// contain no synced position. If `synced` is true, each record contains one.
class Written {
 public:
  explicit Written(uint64_t file_bytes = 1 << 20, bool synced = false) : synced_(synced) {
    LogOptions options;
    options.folder = "log";
    options.file_bytes = file_bytes;
    options.sync_interval_ms = 3'600'000;
    log_ = std::make_unique<Log>(disk, options, LogStart());
  }

  /// Adds a record. Returns the offset of its header in the first file.
  uint64_t Add(const Bytes& body) {
    const LogPosition at = log_->End();
    const LogPosition end = log_->Add(7, ++last_, body, crc32c::Value(body));
    REQUIRE((synced_ ? log_->WaitSynced(end) : log_->WaitWritten(end)).ok());
    bodies[last_] = body;
    return kLogFileHeaderBytes + at;
  }
  [[nodiscard]] LogPosition End() const { return log_->End(); }
  void Close() { log_.reset(); }

  FaultyFileSystem disk{1};
  Records bodies;

 private:
  const bool synced_;
  std::unique_ptr<Log> log_;
  uint64_t last_ = 0;
};

}  // namespace

TEST_CASE("a torn end is cut, whatever the torn record contains") {
  Written log;
  log.Add("first");
  const LogPosition end = log.End();
  const uint64_t torn = log.Add(LooksLikeARecord(1, end + 1) + Bytes(1000, 'x'));
  log.Close();
  REQUIRE((*log.disk.Open(kFirstFile, OpenMode::kReadWrite))->Truncate(torn + 500).ok());
  Records records;
  const auto recovered = RecoverWhole(log.disk, &records);
  INFO(recovered.status().ToString());
  REQUIRE(recovered.ok());
  CHECK(records == Records{{1, "first"}});
  CHECK(recovered->next.position == end);
}

TEST_CASE("unsynced data is cut at a damage, whatever later complete records contain") {
  Written log;
  log.Add("first");
  const uint64_t damaged = log.Add("second");
  for (int i = 0; i < 5; ++i) log.Add(Bytes(100, 'x') + LooksLikeARecord(1, 50) + Bytes(100, 'x'));
  log.Close();
  SUBCASE("damage of the header") { log.disk.FlipBit(kFirstFile, damaged + 2, 0); }
  SUBCASE("damage of the body") {
    log.disk.FlipBit(kFirstFile, damaged + kLogRecordHeaderBytes + 2, 0);
  }
  Records records;
  const auto recovered = RecoverWhole(log.disk, &records);
  INFO(recovered.status().ToString());
  REQUIRE(recovered.ok());
  CHECK(records == Records{{1, "first"}});
}

TEST_CASE("a record with an implausible synced position does not prevent cutting a damaged end") {
  Written log;
  log.Add("first");
  const uint64_t damaged = log.Add(LooksLikeARecord(1, 1 << 30) + Bytes(100, 'x'));
  log.Close();
  log.disk.FlipBit(kFirstFile, damaged + 2, 0);
  Records records;
  const auto recovered = RecoverWhole(log.disk, &records);
  INFO(recovered.status().ToString());
  REQUIRE(recovered.ok());
  CHECK(records == Records{{1, "first"}});
}

TEST_CASE(
    "damage before the synced position is refused at each byte, whatever the records contain") {
  Written log(600, true);
  for (int i = 0; i < 8; ++i) log.Add(LooksLikeARecord(1, 0) + Bytes(100, 'x'));
  log.Close();
  REQUIRE(log.disk.List("log")->size() > 1);
  Records records;
  REQUIRE(RecoverWhole(log.disk, &records).ok());
  CHECK(records == log.bodies);
  for (uint64_t byte = 0; byte < 500; ++byte) {
    CAPTURE(byte);
    log.disk.FlipBit(kFirstFile, byte, 0);
    CHECK(RecoverWhole(log.disk, &records).status().code() == StatusCode::kCorruption);
    log.disk.FlipBit(kFirstFile, byte, 0);
  }
}

TEST_CASE("a log whose first file is missing is refused") {
  Written log(300, true);
  for (int i = 0; i < 8; ++i) log.Add(Bytes(100, 'x'));
  log.Close();
  REQUIRE(log.disk.List("log")->size() > 2);
  REQUIRE(log.disk.Remove(kFirstFile).ok());
  Records records;
  CHECK(RecoverWhole(log.disk, &records).status().code() == StatusCode::kCorruption);
}

TEST_CASE("a log is replayed even if no thread can be started") {
  Written log(300);
  for (int i = 0; i < 20; ++i) log.Add(Bytes(100, 'x'));
  log.Close();
  REQUIRE(log.disk.List("log")->size() > 5);
  const NoThreads none;
  Records records;
  REQUIRE(RecoverWhole(log.disk, &records).ok());
  CHECK(records == log.bodies);
}

}  // namespace hg::lsm
