#include "tsd/ingest/stored_tag_formats.h"

#include <chrono>

#include "storage/base/survive.h"
#include "tsd/ingest/tag_formats.h"

namespace hg::tsd {
namespace {

constexpr std::chrono::seconds kPause{1};

}  // namespace

void StoredTagFormats::Start() {
  const Result<Bytes> file = ReadWholeFile(files_, folder_ + "/" + kTagFormatsName);
  if (file.ok() && !ingest_.formats().Decode(*file))
    report_(folder_ + "/" + kTagFormatsName +
            " is damaged or has another version; it will be written "
            "again");
  thread_ = std::thread([this] { Run(); });
}

void StoredTagFormats::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StoredTagFormats::Run() {
  const Result<bool> all = Survive([this] { return ingest_.RecallRawKeys(stop_); });
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

void StoredTagFormats::Save() {
  const uint64_t changes = ingest_.formats().changes();
  if (changes == saved_) return;
  const Status saved = Survive(
      [this] { return ReplaceFile(files_, folder_, kTagFormatsName, ingest_.formats().Encode()); });
  if (saved.ok()) saved_ = changes;
  if (!failing_) Tell("the tag formats cannot be saved", saved);
  failing_ = !saved.ok();
}

void StoredTagFormats::Tell(const char* what, const Status& status) const {
  if (!status.ok()) (void)Survive([&] { report_(what + (": " + status.ToString())); });
}

}  // namespace hg::tsd
