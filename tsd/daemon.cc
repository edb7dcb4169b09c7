#include "tsd/daemon.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tsd/log.h"
#include "tsd/settings.h"

namespace hg::tsd {

Status RunDaemon(Invocation& call) {
  RETURN_IF_ERROR(call.Open());
  return Status::Unsupported("no server");
}

}  // namespace hg::tsd
