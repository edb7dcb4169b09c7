// The command search lookup: OpenTSDB's look-up of series. As in the reproduced release of
// OpenTSDB, the command prints nothing (opentsdb-tools.md §8), but it fails for unknown names.
// /api/search/lookup returns results.

#include <span>

#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Checks that a name exists. "" and "*" mean any name.
Status CheckName(uid::Names& names, UidKind kind, std::string_view name) {
  if (name.empty() || name == "*") return {};
  return names.Find(kind, name).status();
}

/// Checks words of the form "[METRIC] [TAGK=TAGV | TAGK= | =TAGV]...".
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
  call.err << "tsdb search: prints no results, like OpenTSDB's tool; use /api/search/lookup of a "
              "running daemon\n";
  return kExitOk;
}

constexpr OptionSpec kSearchOptions[] = {
    {"--use-data-table", "", "accepted without effect"},
};

}  // namespace

const Command kSearchCommand{"search",
                             "lookup [METRIC] [TAGK=TAGV...]",
                             "Checks that the names exist. Like OpenTSDB's tool, it prints no "
                             "results.",
                             "To find series, call /api/search/lookup of a running daemon.",
                             kSearchOptions,
                             "/api/search/lookup?m=METRIC",
                             RunSearch};

}  // namespace hg::tsd
