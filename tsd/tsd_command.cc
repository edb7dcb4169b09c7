// tsd: the daemon's options (spec schema.md §18.2). What it does is in daemon.h.

#include "tsd/daemon.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Options whose value is a setting's.
constexpr std::pair<std::string_view, std::string_view> kValueOptions[] = {
    {"--port", "tsd.network.port"},
    {"--bind", "tsd.network.bind"},
    {"--staticroot", "tsd.http.staticroot"},
    {"--cachedir", "tsd.http.cachedir"},
    {"--worker-threads", "tsd.network.worker_threads"},
    {"--async-io", "tsd.network.async_io"},
    {"--backlog", "tsd.network.backlog"},
    {"--flush-interval", "tsd.core.flushinterval"},
    {"--max-connections", "tsd.core.connections.limit"},
};

/// Options whose presence sets a setting, whatever value they are given.
struct SwitchOption {
  std::string_view option;
  std::string_view key;
  std::string_view value;
};
constexpr SwitchOption kSwitchOptions[] = {
    {"--auto-metric", "tsd.core.auto_create_metrics", "true"},
    {"--read-only", "tsd.mode", "ro"},
    {"--disable-ui", "tsd.core.enable_ui", "false"},
    {"--disable-api", "tsd.core.enable_api", "false"},
    {"--statswport", "tsd.core.stats_with_port", "true"},
};

void ApplyTsdOptions(const CommandLine& line, Config* config) {
  for (const auto& [option, key] : kValueOptions)
    if (auto value = line.Value(option)) config->Set(key, *value);
  for (const SwitchOption& option : kSwitchOptions)
    if (line.Has(option.option)) config->Set(option.key, option.value);
}

int RunTsd(Invocation& call) {
  if (!call.line.words().empty())
    return call.Misused("unexpected word: " + call.line.words().front());
  if (Status s = RunDaemon(call); !s.ok()) return call.Fail(s);
  return kExitOk;
}

constexpr OptionSpec kTsdOptions[] = {
    {"--port", "NUM", "TCP port of HTTP and the line protocol (4242)"},
    {"--bind", "ADDR", "address to listen on (127.0.0.1)"},
    {"--auto-metric", "", "assign ids to new metrics"},
    {"--staticroot", "PATH", "folder of static files"},
    {"--cachedir", "PATH", "folder of cached plots"},
    {"--worker-threads", "NUM", "network threads (one per core)"},
    {"--async-io", "true|false", "accepted; network threads always are event loops"},
    {"--backlog", "NUM", "connections waiting to be accepted"},
    {"--max-connections", "NUM", "connections at once; more are refused"},
    {"--read-only", "X", "refuse writes; the value is ignored"},
    {"--disable-ui", "X", "no pages for browsers; the value is ignored"},
    {"--disable-api", "X", "no HTTP API; the value is ignored"},
    {"--flush-interval", "MS", "accepted; has no effect"},
    {"--statswport", "", "statistics tell the port, too"},
};

}  // namespace

const Command kTsdCommand{
    "tsd",
    "",
    "Runs the daemon in the foreground.",
    "SIGTERM and SIGINT stop it cleanly, SIGHUP makes it forget cached names and read users and\n"
    "certificates anew.",
    kTsdOptions,
    "",
    RunTsd,
    ApplyTsdOptions};

}  // namespace hg::tsd
