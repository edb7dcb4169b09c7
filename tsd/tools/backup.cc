// The commands backup FOLDER and restore FOLDER: copies of the store
// (storage/engine/engine_backup.h).

#include <chrono>
#include <filesystem>

#include "storage/engine/engine_backup.h"
#include "storage/local/local_client.h"
#include "tsd/tools/restore_beside.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Prints the progress once per second.
class ProgressLines {
 public:
  explicit ProgressLines(Invocation& call) : call_(call) {}
  void Show(const CopyProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kProgressInterval;
    call_.err << "tsdb " << call_.command.name << ": " << progress.files << " of "
              << progress.files_total << " files, " << progress.bytes << " of "
              << progress.bytes_total << " bytes\n";
  }

 private:
  Invocation& call_;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + kProgressInterval;
};

int Done(Invocation& call, const CopyProgress& done, const std::string& text) {
  call.err << "tsdb " << call.command.name << ": " << text << ": " << done.files << " files, "
           << done.bytes << " bytes (" << done.kept << " files were there, " << done.linked
           << " linked, " << done.copied << " copied)\n";
  return kExitOk;
}

int RunBackup(Invocation& call) {
  if (call.line.words().size() != 1) return call.Misused("exactly one folder must be given");
  const std::string folder = std::filesystem::absolute(call.line.words()[0]);
  const std::string& data = call.session.config().String("tsd.storage.path");
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  Maintenance* const store = call.session.backend().maintenance();
  if (store == nullptr) return call.Fail(Status::Unsupported("this store has no files to copy"));
  ProgressLines lines(call);
  const auto done = store->Backup(folder, [&](const CopyProgress& progress) {
    lines.Show(progress);
    return true;
  });
  if (!done.ok()) return call.Fail(done.status());
  const bool beside = call.session.backend().beside_daemon();
  return Done(call, *done, folder + " is a copy of " + data + (beside ? ", by its daemon" : ""));
}

int RunRestore(Invocation& call) {
  if (call.line.words().size() != 1) return call.Misused("exactly one folder must be given");
  const std::string& folder = call.line.words()[0];
  const std::string& data = call.session.config().String("tsd.storage.path");
  ProgressLines lines(call);
  const auto watch = [&](const CopyProgress& progress) {
    lines.Show(progress);
    return true;
  };
  const Status daemon = local::LocalClient::Connect(data, {}).status();
  if (daemon.ok()) {
    const auto rows = RestoreBeside(call, std::filesystem::absolute(folder), watch);
    if (!rows.ok()) return call.Fail(rows.status());
    call.err << "tsdb restore: " << data << " now has the data that it lacked of " << folder
             << ", by its daemon: " << rows->rows << " rows looked at, " << rows->written
             << " written, " << rows->missing << " of them were missing\n";
    return kExitOk;
  }
  if (daemon.code() != StatusCode::kNotFound) return call.Fail(daemon);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(data, error)) {
    if (entry.is_directory()) {
      return call.Fail(Status::InvalidArgument(data + ": is not empty (" +
                                               entry.path().filename().string() + ")"));
    }
  }
  const auto done = engine::Restore(PosixFileSystem(), folder, data, watch);
  if (!done.ok()) return call.Fail(done.status());
  return Done(call, *done,
              data + " is restored from " + folder + "; every file was read and verified");
}

}  // namespace

const Command kBackupCommand{
    "backup",
    "FOLDER",
    "Copies the store to a folder, also while a daemon runs.",
    "Files never change after they were written. So a copy on the same disk consists of hard\n"
    "links and takes no space; on another disk the bytes are copied. A second backup to the same\n"
    "FOLDER copies only new files. `restore` refuses an interrupted first backup; run `backup`\n"
    "again to complete it. If the disk fails, a copy on the same disk is lost too. Exit status 1\n"
    "means that there is no new copy. If a daemon uses the data directory, the daemon writes the\n"
    "copy as its own user.",
    {},
    "POST /api/admin/backup?folder=FOLDER",
    RunBackup};

const Command kRestoreCommand{
    "restore",
    "FOLDER",
    "Creates a data directory from a backup, or adds missing data to a running daemon.",
    "The data directory (--data, tsd.storage.path) must be empty or missing, or be used by a\n"
    "running daemon. Every file is read and verified. Run the command again to complete an\n"
    "interrupted restore. A running daemon continues to serve and gets the data that it lacks:\n"
    "names, points at times without a point, and cells. Data that was deleted since the backup\n"
    "is therefore restored. Existing data is not replaced. If ids differ, the command matches\n"
    "series by their names, leaves out metadata and trees, and reports that it left them out.",
    {},
    "",
    RunRestore};

}  // namespace hg::tsd
