#include "http/request/build_info.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunVersion(Invocation& call) {
  call.out << http::BuildText();
  return kExitOk;
}

}  // namespace

const Command kVersionCommand{
    "version", "", "Prints the version of this program.", "", {}, "/api/version", RunVersion};

}  // namespace hg::tsd
