#pragma once
// Ends the process for the `diediedie` command.

#include <unistd.h>

#include <csignal>

namespace hg::http {

/// Sends SIGTERM to this process, so that the process stops cleanly. Does not wait until the
/// process has stopped.
inline void RequestShutDown() { ::kill(::getpid(), SIGTERM); }

}  // namespace hg::http
