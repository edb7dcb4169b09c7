#include "tsd/manual/pages.h"

#include "http/request/build_info.h"
#include "storage/model/letter_case.h"
#include "tsd/config.h"
#include "tsd/program.h"

namespace hg::tsd {
namespace {

/// Escapes text for troff, so that troff reads no text as a command and prints dashes as ASCII.
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

/// Returns the text as an argument of a troff macro.
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

/// Keeps line breaks, because many texts are tables.
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
    ".SH EXIT STATUS\n"
    "0: success. 1: failure. 2: invalid options or words.\n";

std::string Files() {
  std::string out =
      ".SH FILES\n"
      "The option\n"
      ".B \\-\\-config\n"
      "names the file with the settings. Without it the first of these files that exists is "
      "used:\n";
  for (const std::string& place : Config::DefaultPlaces()) out += ".br\n.I " + Quoted(place) + "\n";
  return out;
}

}  // namespace

std::string ProgramPage() {
  std::string out = Head("tsdb", "a time-series database that speaks OpenTSDB 2.x");
  out +=
      ".SH SYNOPSIS\n"
      ".B tsdb\n"
      ".I command\n"
      "[options] [words]\n"
      ".SH DESCRIPTION\n"
      "One program contains the daemon and all of its tools. Each command has its own page.\n"
      "A tool prints only its results to standard output.\n"
      ".SH COMMANDS\n";
  for (const Command* command : Commands())
    out +=
        ".TP\n.BR " + Quoted(PageName(command->name)) + " (1)\n" + Plain(command->summary) + "\n";
  out +=
      ".SH OPTIONS\n"
      "Options of every command:\n" +
      Options(CommonOptions());
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
