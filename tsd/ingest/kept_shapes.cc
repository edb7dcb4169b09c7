#include "tsd/ingest/kept_shapes.h"

#include <chrono>

#include "storage/base/survive.h"
#include "tsd/ingest/tag_shapes.h"

namespace hg::tsd {
namespace {

constexpr std::chrono::seconds kPause{1};

}  // namespace

void KeptShapes::Start() {
  const Result<Bytes> file = ReadWholeFile(files_, folder_ + "/" + kShapesName);
  if (file.ok() && !ingest_.shapes().Decode(*file))
    report_(folder_ + "/" + kShapesName +
            " is damaged or has another version; it will be written "
            "again");
  thread_ = std::thread([this] { Run(); });
}

void KeptShapes::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void KeptShapes::Run() {
  const Result<bool> all = Survive([this] { return ingest_.RecallSpellings(stop_); });
  Tell("raw series keys cannot be restored and are learned again", all.status());
  if (all.ok() && !*all) {
    (void)Survive([this] {
      report_(
          "there is not enough memory to restore all raw series keys; the others are learned "
          "again");
    });
  }
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    Save();
    lock.lock();
  } while (!stopped_.wait_for(lock, kPause, [this] { return stop_.load(); }));
  lock.unlock();
  Save();
}

void KeptShapes::Save() {
  const uint64_t changes = ingest_.shapes().changes();
  if (changes == saved_) return;
  const Status saved = Survive(
      [this] { return ReplaceFile(files_, folder_, kShapesName, ingest_.shapes().Encode()); });
  if (saved.ok()) saved_ = changes;
  if (!failing_) Tell("the tag formats cannot be saved", saved);
  failing_ = !saved.ok();
}

void KeptShapes::Tell(const char* what, const Status& status) const {
  if (!status.ok()) (void)Survive([&] { report_(what + (": " + status.ToString())); });
}

}  // namespace hg::tsd
