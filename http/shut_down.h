#pragma once
// How a client's `diediedie` ends the process.

#include <unistd.h>

#include <csignal>

namespace hg::http {

/// Asks the process to stop cleanly, the way an operator would. Returns at once.
inline void RequestShutDown() { ::kill(::getpid(), SIGTERM); }

}  // namespace hg::http
