// The commands uid and mkmetric: names and their ids (opentsdb-tools.md §6).

#include <algorithm>
#include <charconv>
#include <memory>

#include "storage/for_each_row.h"
#include "storage/model/name_text.h"
#include "storage/model/number_text.h"
#include "tsd/tools/cell_text.h"
#include "tsd/tools/tools.h"
#include "tsd/tools/uid_fsck.h"
#include "tsd/tools/uid_meta.h"
#include "uid/java_pattern.h"

namespace hg::tsd {
namespace {

// Exit codes used only by `uid` (opentsdb-tools.md §6).
constexpr int kExitRefused = 3;
constexpr int kExitNoSuchKind = 4;

using Words = std::vector<std::string>;

Result<UidKind> ParseKind(std::string_view word) {
  for (UidKind kind : kUidKinds)
    if (UidKindName(kind) == word) return kind;
  return Status::InvalidArgument("no such kind of name: " + std::string(word) +
                                 " (metrics, tagk or tagv)");
}

/// Returns the kinds selected by a word before the name, or all kinds without such a word.
Result<std::vector<UidKind>> KindsAsked(const Words& words, size_t words_without_kind) {
  if (words.size() == words_without_kind)
    return std::vector<UidKind>(std::begin(kUidKinds), std::end(kUidKinds));
  ASSIGN_OR_RETURN(const UidKind kind, ParseKind(words[words.size() - 2]));
  return std::vector<UidKind>{kind};
}

void PrintMapping(Invocation& call, UidKind kind, std::string_view name, ByteView id) {
  call.out << UidKindName(kind) << " " << name << ": " << ByteListText(id) << "\n";
}

/// Returns the id if the word is a number in int64, or nullopt if it is a name.
std::optional<uint64_t> ParseId(std::string_view word) {
  int64_t id = 0;
  NumberError error;
  if (!ParseLong(word, &id, &error) || id < 0) return std::nullopt;
  return static_cast<uint64_t>(id);
}

/// Returns the width in bytes of ids given as numbers; 0 = the configured width of each kind.
Result<int> ReadIdWidth(const CommandLine& line) {
  const auto text = line.Value("--idwidth");
  if (!text) return 0;
  int width = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), width);
  if (error != std::errc() || end != text->data() + text->size())
    return Status::InvalidArgument("--idwidth=" + *text + " is not a number");
  return width;
}

int LookUpId(Invocation& call, const std::vector<UidKind>& kinds, uint64_t id, int id_width) {
  bool found = false;
  for (UidKind kind : kinds) {
    const int width = id_width > 0 ? id_width : UidWidth(call.session.layout(), kind);
    if (width < 8 && id >> (8 * width) != 0) continue;
    Bytes bytes;
    if (width > 8) bytes.assign(static_cast<size_t>(width) - 8, '\0');
    AppendBig(&bytes, id, std::min(width, 8));
    const Bytes qualifier(UidKindName(kind));
    const auto row = call.session.cells().Get(call.session.uid_table(), bytes, "name", {qualifier});
    if (!row.ok()) return call.Fail(row.status());
    if (row->empty()) continue;
    PrintMapping(call, kind, FromLatin1(row->cells[0].value), bytes);
    found = true;
  }
  return found ? kExitOk : kExitFailed;
}

int LookUpName(Invocation& call, const std::vector<UidKind>& kinds, const std::string& name) {
  bool found = false;
  for (UidKind kind : kinds) {
    const auto id = call.session.names().Find(kind, name);
    if (id.status().code() == StatusCode::kNotFound) continue;
    if (!id.ok()) return call.Fail(id.status());
    PrintMapping(call, kind, name, *id);
    found = true;
  }
  return found ? kExitOk : kExitFailed;
}

int RunLookUp(Invocation& call, const Words& words, int id_width) {
  if (words.size() > 2) return call.Misused("wrong number of arguments");
  const auto kinds = KindsAsked(words, 1);
  if (!kinds.ok()) return call.Fail(kinds.status());
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  if (const auto id = ParseId(words.back())) return LookUpId(call, *kinds, *id, id_width);
  return LookUpName(call, *kinds, words.back());
}

/// Prints all forward mappings whose name matches, in row order.
Result<bool> GrepRows(Invocation& call, const std::vector<UidKind>& kinds,
                      const uid::JavaPattern& regexp) {
  ScanSpec spec;
  spec.table = call.session.uid_table();
  spec.family = "id";
  for (UidKind kind : kinds) spec.qualifiers.emplace_back(UidKindName(kind));
  bool found = false;
  RETURN_IF_ERROR(ForEachRow(call.session.cells(), spec, [&](const Row& row) -> Status {
    const std::string name = FromLatin1(row.key);
    if (!regexp.Search(name)) return {};
    for (const Cell& cell : row.cells) {
      const auto kind = ParseKind(cell.qualifier);
      if (!kind.ok()) continue;
      PrintMapping(call, *kind, name, cell.value);
      found = true;
    }
    return {};
  }));
  return found;
}

int RunGrep(Invocation& call, const Words& words) {
  if (words.size() < 2 || words.size() > 3) return call.Misused("wrong number of arguments");
  const auto kinds = KindsAsked(words, 2);
  if (!kinds.ok()) return call.Fail(kinds.status());
  const std::string flags = call.line.Has("--ignore-case") ? "(?i)" : "";
  const auto regexp = uid::JavaPattern::Compile(flags + words.back());
  if (!regexp.ok()) {
    call.Fail(regexp.status());
    return kExitRefused;
  }
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
  const auto found = GrepRows(call, *kinds, **regexp);
  if (!found.ok()) return call.Fail(found.status());
  return *found ? kExitOk : kExitFailed;
}

int Assign(Invocation& call, std::string_view kind_word, std::span<const std::string> names) {
  const auto kind = ParseKind(kind_word);
  if (!kind.ok()) return call.Fail(kind.status());
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  for (const std::string& name : names) {
    // Characters are not checked, as in OpenTSDB's tool (opentsdb-tools.md §6, quirk).
    const auto id = call.session.names().FindOrAssign(*kind, name);
    if (!id.ok()) return call.Fail(id.status());
    PrintMapping(call, *kind, name, *id);
  }
  return kExitOk;
}

int RunAssign(Invocation& call, const Words& words) {
  if (words.size() < 3) return call.Misused("wrong number of arguments");
  return Assign(call, words[1], std::span(words).subspan(2));
}

int RunRename(Invocation& call, const Words& words) {
  if (words.size() != 4) return call.Misused("wrong number of arguments");
  const auto kind = ParseKind(words[1]);
  if (!kind.ok()) return call.Fail(kind.status());
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  if (Status s = call.session.names().Rename(*kind, words[2], words[3]); !s.ok())
    return call.Fail(s);
  call.out << words[1] << " " << words[2] << " -> " << words[3] << "\n";
  return kExitOk;
}

int RunDelete(Invocation& call, const Words& words) {
  if (words.size() != 3) return call.Misused("wrong number of arguments");
  const auto kind = ParseKind(words[1]);
  if (!kind.ok()) {
    call.Fail(kind.status());
    return kExitNoSuchKind;
  }
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  if (Status s = call.session.names().Delete(*kind, words[2]); !s.ok()) return call.Fail(s);
  return kExitOk;
}

/// Returns the number of errors as exit code, limited to the largest possible exit code.
int RunFsck(Invocation& call, const Words& words) {
  UidFsckOptions options;
  for (const std::string& word : std::span(words).subspan(1)) {
    if (word == "fix") {
      options.fix = true;
    } else if (word == "delete_unknown") {
      options.delete_unknown = true;
    } else {
      return call.Misused("unexpected word: " + word);
    }
  }
  const StoreUse use = options.fix ? StoreUse::kWork : StoreUse::kLook;
  if (Status s = call.Open(use); !s.ok()) return call.Fail(s);
  const auto errors = RunUidFsck(call.session, options);
  if (!errors.ok()) return call.Fail(errors.status());
  return static_cast<int>(std::min<uint64_t>(*errors, 255));
}

/// Runs sub-commands that read the whole table and print nothing.
int RunMeta(Invocation& call, const Words& words, Status (*run)(Session&)) {
  if (words.size() != 1) return call.Misused("wrong number of arguments");
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  if (Status s = run(call.session); !s.ok()) {
    call.Fail(s);
    return kExitRefused;
  }
  return kExitOk;
}

int RunPurgeMeta(Invocation& call, const Words& words) {
  if (words.size() == 2 && words[1] == "forgotten")
    return RunMeta(call, {words[0]}, RunForgottenMetaPurge);
  return RunMeta(call, words, RunMetaPurge);
}

int RunPurgeTree(Invocation& call, const Words& words) {
  if (words.size() < 2) return call.Misused("wrong number of arguments");
  const auto tree = ParseId(words[1]);
  if (!tree || *tree == 0 || *tree > UINT16_MAX) {
    call.Fail(Status::InvalidArgument("not a number of a tree: " + words[1]));
    return kExitRefused;
  }
  const bool definition = words.size() > 2 && words[2] == "true";
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  if (Status s = RunTreePurge(call.session, static_cast<uint16_t>(*tree), definition); !s.ok())
    return call.Fail(s);
  return kExitOk;
}

int RunUid(Invocation& call) {
  const auto id_width = ReadIdWidth(call.line);
  if (!id_width.ok()) return call.Fail(id_width.status());
  if (call.line.Has("--idwidth") && *id_width <= 0) {
    call.Misused("--idwidth must be at least 1");
    return kExitRefused;
  }
  const Words& words = call.line.words();
  if (words.empty()) return call.Misused("not enough arguments");
  const std::string& what = words[0];
  if (what == "grep") return RunGrep(call, words);
  if (what == "assign") return RunAssign(call, words);
  if (what == "rename") return RunRename(call, words);
  if (what == "delete") return RunDelete(call, words);
  if (what == "fsck") return RunFsck(call, words);
  if (what == "metasync") return RunMeta(call, words, RunMetaSync);
  if (what == "metapurge") return RunPurgeMeta(call, words);
  if (what == "treesync") return RunMeta(call, words, RunTreeSync);
  if (what == "treepurge") return RunPurgeTree(call, words);
  return RunLookUp(call, words, *id_width);
}

int RunMkmetric(Invocation& call) {
  if (call.line.words().empty()) return call.Misused("wrong number of arguments");
  return Assign(call, UidKindName(UidKind::kMetric), call.line.words());
}

constexpr OptionSpec kUidOptions[] = {
    {"--idwidth", "N",
     "number of bytes of an id that is given as a number (default: the "
     "configured width)"},
    {"--ignore-case", "", "grep ignores the case of letters", "-i"},
    {"--verbose", "", "log more", "-v"},
};
constexpr OptionSpec kMkmetricOptions[] = {
    {"--idwidth", "N", "accepted without effect: ids have the configured width"},
    {"--verbose", "", "log more", "-v"},
};

}  // namespace

const Command kUidCommand{
    "uid",
    "WORDS",
    "Looks up, assigns, renames and deletes names and their ids.",
    "  [kind] NAME | NUMBER     look up a name or an id; a word of digits is an id\n"
    "  grep [kind] REGEX        print every name that contains a match of the expression\n"
    "  assign kind NAME...      print the ids of names; assign ids to new names\n"
    "  rename kind OLD NEW      give another name to an id\n"
    "  delete kind NAME         delete a name; points keep its id\n"
    "  fsck [fix] [delete_unknown]  check all ids; the exit status is the number of errors\n"
    "  metasync                 create missing metadata for every series that has points\n"
    "  metapurge [forgotten]    delete the metadata of names and series; with `forgotten`, only\n"
    "                           that of series without rows\n"
    "  treesync                 sort all series into the enabled trees\n"
    "  treepurge ID [true]      delete the content of a tree; with `true`, also its definition\n"
    "A kind is metrics, tagk or tagv.",
    kUidOptions,
    "/api/suggest, /api/uid/assign, /api/uid/rename",
    RunUid};

const Command kMkmetricCommand{
    "mkmetric", "NAME...",        "Assigns ids to metrics, like uid assign metrics NAME...",
    "",         kMkmetricOptions, "/api/uid/assign?metric=NAME",
    RunMkmetric};

}  // namespace hg::tsd
