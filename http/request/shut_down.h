#pragma once
// Ends the process for the `diediedie` command.

#include <unistd.h>

#include <csignal>

namespace hg::http {

/// Sends SIGTERM to this process, so that it stops cleanly. Does not wait.
inline void RequestShutDown() { ::kill(::getpid(), SIGTERM); }

}  // namespace hg::http
