// check: verifies every file of the data directory.

#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunCheck(Invocation& call) {
  if (!call.line.words().empty())
    return call.Misused("unexpected word: " + call.line.words().front());
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  Maintenance* const store = call.session.backend().maintenance();
  if (store == nullptr) return call.Fail(Status::Unsupported("this store keeps no files to check"));
  const auto report = store->Check();
  if (!report.ok()) return call.Fail(report.status());
  for (const Damage& damage : report->damages) call.out << damage.ToString() << "\n";
  if (!report->damages.empty()) return kExitFailed;
  call.err << "tsdb check: no damage found in " << call.session.config().String("tsd.storage.path")
           << "\n";
  return kExitOk;
}

}  // namespace

const Command kCheckCommand{"check",
                            "",
                            "Verifies the checksums of every file of the data directory.",
                            "Exit status 1: a line for each damage, with file and offset.",
                            {},
                            "",
                            RunCheck};

}  // namespace hg::tsd
