#pragma once
// Ends the process for the `diediedie` command.

#include <unistd.h>

#include <csignal>

namespace hg::http {

/// Asks the process to stop cleanly, by SIGTERM. Returns at once.
inline void RequestShutDown() { ::kill(::getpid(), SIGTERM); }

}  // namespace hg::http
