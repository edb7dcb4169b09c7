#pragma once
// The telnet commands, the exact way (spec http-api.md §19.3): every line in order, every text. The
// connection tries the fast way first, which takes put lines of known series only.

#include <string>
#include <string_view>

namespace hg::http {

struct Services;

struct LinesResult {
  std::string text;        // what to send, in the order of the lines
  bool close = false;      // `exit` was among them; later lines were not looked at
  bool shut_down = false;  // `diediedie`: the process is to end
};

/// Runs whole lines, each ended by LF. Their points are durable when it returns. While the store is
/// busy it waits, a client of this dialect cannot be told to come again. Blocks.
LinesResult RunTelnetLines(std::string_view lines, Services& services);

}  // namespace hg::http
