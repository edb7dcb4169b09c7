#pragma once
// Keeps the tag formats (tag_formats.h) in a small file next to the store, so that they survive a
// restart. If the file is missing or invalid, raw series keys are learned again as clients send
// them.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "storage/base/file.h"
#include "tsd/ingest/ingest.h"

namespace hg::tsd {

inline constexpr char kTagFormatsName[] = "SHAPES";

/// One thread at a time may call Start and Stop.
class StoredTagFormats {
 public:
  using Report = std::function<void(const std::string& failure)>;

  /// `folder` must exist, and no other object may use `folder` at the same time. The references
  /// must outlive this object.
  StoredTagFormats(Ingest& ingest, FileSystem& files, std::string folder, Report report)
      : ingest_(ingest), files_(files), folder_(std::move(folder)), report_(std::move(report)) {}
  ~StoredTagFormats() { Stop(); }
  StoredTagFormats(const StoredTagFormats&) = delete;
  StoredTagFormats& operator=(const StoredTagFormats&) = delete;

  /// Reads the file and starts a thread. The thread first learns raw series keys (RecallRawKeys).
  /// Afterwards it writes tag formats to the file within a second after they have changed. If that
  /// fails, it tries again every second, and reports the failure once.
  void Start();
  /// Ends the thread and writes pending changes to the file. Idempotent.
  void Stop();

 private:
  void Run();
  void Save();
  /// Calls `report_` with `what` and the error, unless the status is ok.
  void Tell(const char* what, const Status& status) const;

  Ingest& ingest_;
  FileSystem& files_;
  const std::string folder_;
  const Report report_;
  uint64_t saved_ = 0;    // the value of TagFormats::changes() when the file was written last
  bool failing_ = false;  // the last save failed and was reported; used only by the thread
  std::thread thread_;
  // Stop sets stop_ while it holds mutex_, so that the thread, which waits for stopped_ with
  // mutex_, cannot miss the signal. mutex_ guards nothing else.
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable stopped_;
};

}  // namespace hg::tsd
