// search lookup: OpenTSDB's look-up of series, which prints nothing in the release whose tools are
// kept (spec cli.md §8), but fails on names that nobody has. /api/search/lookup answers.

#include <span>

#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Nothing is said for "" and "*": any name.
Status CheckName(uid::Names& names, UidKind kind, std::string_view name) {
  if (name.empty() || name == "*") return {};
  return names.Find(kind, name).status();
}

/// "[METRIC] [TAGK=TAGV | TAGK= | =TAGV]...".
Status CheckLookup(uid::Names& names, std::span<const std::string> words) {
  if (words[0].find('=') == std::string::npos) {
    RETURN_IF_ERROR(CheckName(names, UidKind::kMetric, words[0]));
    words = words.subspan(1);
  }
  for (const std::string& word : words) {
    const size_t equal = word.find('=');
    if (equal == std::string::npos || word == "=" || word.find('=', equal + 1) != std::string::npos)
      return Status::InvalidArgument("invalid tag: " + word);
    RETURN_IF_ERROR(CheckName(names, UidKind::kTagk, word.substr(0, equal)));
    RETURN_IF_ERROR(CheckName(names, UidKind::kTagv, word.substr(equal + 1)));
  }
  return {};
}

int RunSearch(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.empty()) return call.Misused("not enough arguments");
  if (words[0] != "lookup") return call.Misused("unknown sub command: " + words[0]);
  if (words.size() < 2) return call.Misused("not enough arguments");
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  if (Status s = CheckLookup(call.session.names(), std::span(words).subspan(1)); !s.ok())
    return call.Fail(s);
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
                             "Checks the names, and is as silent as OpenTSDB's tool.",
                             "/api/search/lookup of a running daemon answers.",
                             kSearchOptions,
                             "/api/search/lookup?m=METRIC",
                             RunSearch};

}  // namespace hg::tsd
