// search lookup: OpenTSDB's look-up of series, which prints nothing in the release whose tools are
// kept (spec cli.md §8). /api/search/lookup answers.

#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunSearch(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.empty()) return call.Misused("not enough arguments");
  if (words[0] != "lookup") return call.Misused("unknown sub command: " + words[0]);
  if (words.size() < 2) return call.Misused("not enough arguments");
  call.err << "tsdb search: nothing is printed, as OpenTSDB's tool prints nothing; ask a running "
              "daemon: /api/search/lookup\n";
  return kExitOk;
}

constexpr OptionSpec kSearchOptions[] = {
    {"--use-data-table", "", "accepted"},
};

}  // namespace

const Command kSearchCommand{"search",
                             "lookup [METRIC] [TAGK=TAGV...]",
                             "Accepted as OpenTSDB's tool is, and as silent.",
                             "/api/search/lookup of a running daemon answers.",
                             kSearchOptions,
                             "/api/search/lookup?m=METRIC",
                             RunSearch};

}  // namespace hg::tsd
