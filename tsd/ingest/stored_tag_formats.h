#pragma once
// Stores the tag formats (tag_formats.h) in a small file next to the store, so that they are known
// after a restart. If the file is missing or invalid, the server does not know a raw series key
// until a client sends it again.

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

/// Loads and saves tag formats. Only one thread at a time may call Start and Stop.
class StoredTagFormats {
 public:
  using Report = std::function<void(const std::string& failure)>;

  /// `folder` must exist. No other object may use `folder` at the same time. The references must
  /// outlive this object.
  StoredTagFormats(Ingest& ingest, FileSystem& files, std::string folder, Report report)
      : ingest_(ingest), files_(files), folder_(std::move(folder)), report_(std::move(report)) {}
  ~StoredTagFormats() { Stop(); }
  StoredTagFormats(const StoredTagFormats&) = delete;
  StoredTagFormats& operator=(const StoredTagFormats&) = delete;

  /// Reads the file and starts a thread. The thread first calls Ingest::RecallRawKeys. After that,
  /// it writes the tag formats to the file within a second after they have changed. If writing
  /// fails, the thread tries again every second, but reports the failure only once.
  void Start();
  /// Ends the thread, and writes pending changes to the file. Further calls of Stop have no effect.
  void Stop();

 private:
  void Run();
  void Save();
  /// Calls `report_` with `what` and the error, if `status` is an error.
  void Tell(const char* what, const Status& status) const;

  Ingest& ingest_;
  FileSystem& files_;
  const std::string folder_;
  const Report report_;
  uint64_t saved_ = 0;    // the value of TagFormats::changes() when the file was last written
  bool failing_ = false;  // whether the last save failed and was reported; only the thread uses it
  std::thread thread_;
  // Tells the thread to stop. Stop sets stop_ while it holds mutex_. The thread waits for stopped_
  // with mutex_, so it cannot miss the signal. mutex_ guards nothing else.
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable stopped_;
};

}  // namespace hg::tsd
