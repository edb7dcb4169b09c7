// check: verifies every file of the data directory.

#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunCheck(Invocation& call) {
  if (!call.line.words().empty())
    return call.Misused("unexpected word: " + call.line.words().front());
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  if (Status s = call.session.backend().Check(); !s.ok()) return call.Fail(s);
  call.err << "tsdb check: no damage found in " << call.session.config().String("tsd.storage.path")
           << "\n";
  return kExitOk;
}

}  // namespace

const Command kCheckCommand{"check",
                            "",
                            "Verifies the checksums of every file of the data directory.",
                            "Exit status 1 names the first damage.",
                            {},
                            "",
                            RunCheck};

}  // namespace hg::tsd
