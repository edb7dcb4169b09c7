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
    report_(folder_ + "/" + kShapesName + " is damaged or of another version, and is made anew");
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
  Tell("spellings are learnt anew", all.status());
  if (all.ok() && !*all) {
    (void)Survive([this] {
      report_("spellings are recalled in part, there is no room for all: others are learnt anew");
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
  if (!failing_) Tell("shapes of tags are not kept", saved);
  failing_ = !saved.ok();
}

void KeptShapes::Tell(const char* what, const Status& status) const {
  if (!status.ok()) (void)Survive([&] { report_(what + (": " + status.ToString())); });
}

}  // namespace hg::tsd
