#pragma once
// The daemon. It connects all layers above the store, and runs until it gets a stop signal or
// request.

#include "storage/base/status.h"
#include "tsd/command.h"

namespace hg::tsd {

/// Opens the session and serves clients until the process gets SIGTERM or SIGINT, or until a client
/// sends "diediedie". Then the daemon stops cleanly. When the function returns, all acknowledged
/// data is durable, and the caller must close the session. Call this function on the main thread
/// before any other thread exists. The function fails before it serves clients if a setting is
/// invalid, the store cannot be opened, or the daemon cannot listen on an address.
Status RunDaemon(Invocation& call);

}  // namespace hg::tsd
