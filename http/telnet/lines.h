#pragma once
// The telnet commands, the exact way (spec http-api.md §19.3): every line in order, every text. The
// connection tries the fast way first, which takes put lines of known series only.

#include <string>
#include <string_view>

#include "http/access/roles.h"
#include "storage/base/status.h"

namespace hg {
class Writer;
}

namespace hg::http {

struct Services;

/// Whether lines wait for what refused them, and are then run again: memory that is full, a log
/// that cannot be written to, a store that is away, a rate that was met. A client of this dialect
/// cannot be told to send them once more.
bool WaitsFor(const Status& refusal);

/// What the connection knows.
struct LinesCall {
  bool muted = false;          // the client does not read: the lines are run, nothing is said
  bool after_busy = false;     // the store refused the last call: only so much is tried as it takes
  Roles roles = Roles::All();  // of the client
  Writer* writer = nullptr;    // what he may write; nullptr = everything
};

struct LinesResult {
  std::string text;  // what to send, in the order of the lines
  /// Bytes of the lines that were run. Less than all where the text became long, or the store took
  /// no more (`busy`): the rest is to be handed in again, once the text is sent or after a while.
  size_t used = 0;
  bool busy = false;
  bool close = false;      // `exit` was among them; later lines were not looked at
  bool shut_down = false;  // `diediedie`: the process is to end
};

/// Runs whole lines, each ended by LF. The points of those that were run are durable when it
/// returns: where the log fails, none was run, and what they stored is stored once more by the next
/// call, which changes nothing. Blocks, but not for a busy store.
LinesResult RunTelnetLines(std::string_view lines, Services& services, LinesCall call = {});

}  // namespace hg::http
