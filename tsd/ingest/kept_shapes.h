#pragma once
// The shapes of tags (tag_shapes.h) over a restart: a small file beside the store's. Without it, or
// with another one, spellings are learnt as if they were new.

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

  /// `folder` is there, and nobody else's while it is at work. Borrows the others.
  KeptShapes(Ingest& ingest, FileSystem& files, std::string folder, Report report)
      : ingest_(ingest), files_(files), folder_(std::move(folder)), report_(std::move(report)) {}
  ~KeptShapes() { Stop(); }
  KeptShapes(const KeptShapes&) = delete;
  KeptShapes& operator=(const KeptShapes&) = delete;

  /// Reads the file. Then, on a thread, recalls spellings and writes shapes as they come, a second
  /// later at most. What fails is tried again each second, and reported once.
  void Start();
  /// What is new is written before it returns. Idempotent.
  void Stop();

 private:
  void Run();
  void Save();
  /// What is ok is no news.
  void Tell(const char* what, const Status& status) const;

  Ingest& ingest_;
  FileSystem& files_;
  const std::string folder_;
  const Report report_;
  uint64_t saved_ = 0;    // changes of the shapes in the file
  bool failing_ = false;  // the last save did, and was reported
  std::thread thread_;
  std::atomic<bool> stop_{false};  // changed under mutex_
  std::mutex mutex_;
  std::condition_variable stopped_;
};

}  // namespace hg::tsd
