#pragma once
// The daemon: connects all layers above the store and runs until it is told to stop.

#include "storage/base/status.h"
#include "tsd/command.h"

namespace hg::tsd {

/// Opens the session and serves until SIGTERM, SIGINT or a client's "diediedie". Then it stops
/// cleanly. When it returns, all acknowledged data is durable, and the caller must close the
/// session. Call it on the main thread before any other thread exists. Fails before serving if a
/// setting is wrong, the store cannot be opened, or an address cannot be bound.
Status RunDaemon(Invocation& call);

}  // namespace hg::tsd
