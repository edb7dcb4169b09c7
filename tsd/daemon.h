#pragma once
// The daemon: everything above the store wired together, run until a signal says stop.

#include "storage/base/status.h"
#include "tsd/command.h"

namespace hg::tsd {

/// Opens the session, serves until SIGTERM, SIGINT or a client's "diediedie", and stops cleanly:
/// what was acknowledged is durable, the session is left open for the caller to close. Call it on
/// the main thread before any other thread exists. Fails without having served: a setting is wrong,
/// the store cannot be opened, the address cannot be bound.
Status RunDaemon(Invocation& call);

}  // namespace hg::tsd
