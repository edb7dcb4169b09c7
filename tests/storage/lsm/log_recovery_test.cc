#include "storage/lsm/log_recovery.h"

#include <doctest/doctest.h>

#include <map>

#include "storage/base/crc32c.h"
#include "storage/lsm/block_layout.h"
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

/// The bytes of a record with that synced position, such as a copy of a log file has.
Bytes LooksLikeARecord(uint64_t key, LogPosition synced) {
  const Bytes body = "nothing of ours";
  char header[kLogRecordHeaderBytes];
  EncodeLogRecordHeader(
      key, {static_cast<uint32_t>(body.size()), crc32c::Value(body), uint64_t{1} << 40, synced, 7},
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
  /// Returns the key of the first file, which has at least one record.
  uint64_t Key() {
    LogFileHeader header;
    REQUIRE(DecodeLogFileHeader(*ReadWholeFile(disk, kFirstFile), &header));
    return header.key;
  }
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
  const uint64_t torn = log.Add(LooksLikeARecord(log.Key(), end + 1) + Bytes(1000, 'x'));
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
  for (int i = 0; i < 5; ++i)
    log.Add(Bytes(100, 'x') + LooksLikeARecord(log.Key(), 50) + Bytes(100, 'x'));
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
  const uint64_t damaged = log.Add(LooksLikeARecord(log.Key(), 1 << 30) + Bytes(100, 'x'));
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
  log.Add("first");
  for (int i = 0; i < 8; ++i) log.Add(LooksLikeARecord(log.Key(), 0) + Bytes(100, 'x'));
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

TEST_CASE("values of clients in a recycled file never count as records of the log") {
  FaultyFileSystem disk(1);
  LogOptions options;
  options.folder = "log";
  options.file_bytes = 100'000;
  Log::Switch second;
  {
    Log log(disk, options, LogStart());
    // Each value looks like a record of one of the next log files, and claims that bytes further on
    // in the log are durable.
    Bytes values;
    while (values.size() < 80'000)
      for (uint64_t number = 2; number < 5; ++number)
        values += LooksLikeARecord(number, 80'100 + values.size() / 2);
    log.Add(7, 1, values, crc32c::Value(values));
    REQUIRE(log.WaitSynced(log.End()).ok());
    second = log.SwitchFile();
    log.Release(second.file_number);
    log.Add(7, 2, "kept", crc32c::Value("kept"));
    REQUIRE(log.WaitSynced(log.End()).ok());
  }
  std::map<uint64_t, Bytes> records;
  const auto recovered =
      RecoverLog(disk, "log", second.file_number, second.position, 0, [&](const LogRecord& record) {
        records[record.sequence] = record.body;
        return Status();
      });
  INFO(recovered.status().ToString());
  CHECK(recovered.ok());
  CHECK(records == std::map<uint64_t, Bytes>{{2, "kept"}});
}

TEST_CASE("a log file of the version without keys is read") {
  const std::string path = "log/" + LogFileName(3);
  char head[kLogFileHeaderBytes];
  EncodeLogFileHeader({3, 50, 0}, head);
  Bytes file(head, kLogFileHeaderBytesWithoutKey);
  file[kLogMagicBytes] = kLogVersionWithoutKey;
  file.resize(kLogFileHeaderBytesWithoutKey - 4);
  AppendLittle(&file, crc32c::Value(file), 4);
  file += LooksLikeARecord(3, 0);
  FaultyFileSystem disk(1);
  REQUIRE((*disk.Open(path, OpenMode::kCreateNew))->WriteAt(0, file).ok());
  int records = 0;
  const auto recovered = RecoverLog(disk, "log", 3, 50, 0, [&](const LogRecord& record) {
    CHECK(record.body == "nothing of ours");
    ++records;
    return Status();
  });
  CHECK(recovered.ok());
  CHECK(records == 1);
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
