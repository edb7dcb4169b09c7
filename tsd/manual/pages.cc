#include "tsd/manual/pages.h"

#include "http/build_info.h"
#include "storage/model/letter_case.h"
#include "tsd/config.h"
#include "tsd/program.h"

namespace hg::tsd {
namespace {

/// Text of ours inside of troff's: nothing in it is a command, dashes are the ASCII ones.
std::string Plain(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// An argument of a macro.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : Plain(text)) {
    if (c == '"') {
      out += "\\(dq";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string PageName(std::string_view command) { return "tsdb-" + std::string(command); }

std::string Head(const std::string& page, std::string_view summary) {
  const std::string version(http::ThisBuild().product_version);
  return ".\\\" Made of the program's own help texts.\n.TH " + Quoted(UpperCase(page)) +
         " 1 \"\" " + Quoted("Hourglass " + version) + " \"Hourglass\"\n.SH NAME\n" + Plain(page) +
         " \\- " + Plain(summary) + "\n";
}

/// Lines as they are: many are tables.
std::string Lines(std::string_view text) { return ".nf\n" + Plain(text) + "\n.fi\n"; }

std::string Options(std::span<const OptionSpec> options) {
  std::string out;
  for (const OptionSpec& option : options) {
    std::string name(option.name);
    if (!option.argument.empty()) name += "=" + std::string(option.argument);
    if (!option.alias.empty()) name += ", " + std::string(option.alias);
    out += ".TP\n.B " + Quoted(name) + "\n" + Plain(option.help) + "\n";
  }
  return out;
}

constexpr std::string_view kExitStatus =
    ".SH EXIT STATUS\n0: done. 1: failed. 2: options or words that cannot be.\n";

std::string Files() {
  std::string out =
      ".SH FILES\nSettings are read from the file that\n.B \\-\\-config\nnames, "
      "else from the first of these that there is:\n";
  for (const std::string& place : Config::DefaultPlaces()) out += ".br\n.I " + Quoted(place) + "\n";
  return out;
}

}  // namespace

std::string ProgramPage() {
  std::string out = Head("tsdb", "a time-series database that speaks OpenTSDB 2.x");
  out +=
      ".SH SYNOPSIS\n.B tsdb\n.I command\n[options] [words]\n"
      ".SH DESCRIPTION\nOne program is the daemon and all of its tools; each command has a page "
      "of its own.\n"
      "Standard output has a tool's answer and nothing else.\n.SH COMMANDS\n";
  for (const Command* command : Commands())
    out +=
        ".TP\n.BR " + Quoted(PageName(command->name)) + " (1)\n" + Plain(command->summary) + "\n";
  out += ".SH OPTIONS\nOf every command:\n" + Options(CommonOptions());
  out += kExitStatus;
  return out + Files();
}

std::string CommandPage(const Command& command) {
  std::string out = Head(PageName(command.name), command.summary);
  out += ".SH SYNOPSIS\n.B " + Quoted("tsdb " + std::string(command.name)) + "\n[options]\n";
  if (!command.words.empty()) out += Plain(command.words) + "\n";
  out += ".SH DESCRIPTION\n" + Plain(command.summary) + "\n";
  if (!command.details.empty()) out += ".PP\n" + Lines(command.details);
  out += ".SH OPTIONS\n" + Options(command.options) + Options(CommonOptions());
  out += kExitStatus;
  return out + ".SH SEE ALSO\n.BR tsdb (1)\n";
}

}  // namespace hg::tsd
