#pragma once
// Keeps the tag formats (tag_shapes.h) in a small file next to the store, so that they survive a
// restart. If the file is missing or invalid, raw series keys are learned again.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "storage/base/file.h"
#include "tsd/ingest/ingest.h"

namespace hg::tsd {

inline constexpr char kShapesName[] = "SHAPES";

/// One thread starts and stops it.
class KeptShapes {
 public:
  using Report = std::function<void(const std::string& failure)>;

  /// `folder` must exist, and no other object may use it meanwhile. The other references must
  /// outlive this object.
  KeptShapes(Ingest& ingest, FileSystem& files, std::string folder, Report report)
      : ingest_(ingest), files_(files), folder_(std::move(folder)), report_(std::move(report)) {}
  ~KeptShapes() { Stop(); }
  KeptShapes(const KeptShapes&) = delete;
  KeptShapes& operator=(const KeptShapes&) = delete;

  /// Reads the file. Then a thread learns the raw series keys (RecallSpellings) and writes changed
  /// tag formats within a second. Failures are retried every second and reported once.
  void Start();
  /// Writes pending changes before it returns. Idempotent.
  void Stop();

 private:
  void Run();
  void Save();
  /// Reports the status unless it is ok.
  void Tell(const char* what, const Status& status) const;

  Ingest& ingest_;
  FileSystem& files_;
  const std::string folder_;
  const Report report_;
  uint64_t saved_ = 0;    // value of changes() for the tag formats in the file
  bool failing_ = false;  // the last save failed and was reported
  std::thread thread_;
  std::atomic<bool> stop_{false};  // changed under mutex_
  std::mutex mutex_;
  std::condition_variable stopped_;
};

}  // namespace hg::tsd
