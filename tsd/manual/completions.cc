#include "tsd/manual/completions.h"

#include <algorithm>
#include <iterator>

#include "tsd/command.h"
#include "tsd/program.h"

namespace hg::tsd {
namespace {

/// Returns the options as words for bash; those with a value in the form "--name=".
std::string BashWords(std::span<const OptionSpec> options) {
  std::string words;
  for (const OptionSpec& option : options) {
    words += " " + std::string(option.name) + (option.argument.empty() ? "" : "=");
    if (!option.alias.empty()) words += " " + std::string(option.alias);
  }
  return words;
}

/// Escapes text inside '…'.
std::string ShellText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out;
}

/// Escapes text inside [...] or between the colons of an _arguments specification.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return ShellText(out);
}

/// Returns the alternatives of an option's argument, separated by blanks, or "" if any text is
/// allowed.
std::string WordsOf(std::string_view argument) {
  if (argument.find('|') == std::string_view::npos) return {};
  std::string words(argument);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

bool IsFile(std::string_view argument) {
  constexpr std::string_view kFiles[] = {"PATH", "FILE", "BASE"};
  return std::find(std::begin(kFiles), std::end(kFiles), argument) != std::end(kFiles);
}

/// Returns the completion of an option's argument: alternatives, a file, or nothing.
std::string ZshAction(std::string_view argument) {
  if (const std::string words = WordsOf(argument); !words.empty()) return "(" + words + ")";
  return IsFile(argument) ? "_files" : " ";
}

std::string ZshOption(const OptionSpec& option) {
  std::string name(option.name);
  if (!option.argument.empty()) name += "=";
  name += "[" + ZshText(option.help) + "]";
  if (!option.argument.empty())
    name += ":" + ZshText(option.argument) + ":" + ZshAction(option.argument);
  std::string out = " '" + name + "'";
  if (!option.alias.empty())
    out += " '" + std::string(option.alias) + "[" + ZshText(option.help) + "]'";
  return out;
}

std::string ZshOptions(std::span<const OptionSpec> options) {
  std::string out;
  for (const OptionSpec& option : options) out += " \\\n       " + ZshOption(option);
  return out;
}

/// Escapes text inside '…' for fish, where the backslash is an escape character.
std::string FishText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// Returns completions that apply if the condition is true.
std::string FishOptions(std::string_view condition, std::span<const OptionSpec> options) {
  std::string out;
  for (const OptionSpec& option : options) {
    out += "complete -c tsdb -n '" + std::string(condition) + "' -l ";
    out += option.name.substr(2);  // the option without its two dashes
    if (!option.alias.empty()) out += " -s " + std::string(option.alias.substr(1));
    if (const std::string words = WordsOf(option.argument); !words.empty()) {
      out += " -x -a '" + FishText(words) + "'";
    } else if (!option.argument.empty()) {
      out += IsFile(option.argument) ? " -r -F" : " -x";
    }
    out += " -d '" + FishText(option.help) + "'\n";
  }
  return out;
}

}  // namespace

std::string BashCompletion() {
  std::string names;
  std::string cases;
  for (const Command* command : Commands()) {
    names += (names.empty() ? "" : " ") + std::string(command->name);
    cases +=
        "    " + std::string(command->name) + ") words+='" + BashWords(command->options) + "' ;;\n";
  }
  return "# bash completion of tsdb, made of the program's own table of commands.\n"
         "_tsdb() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  # Readline takes --config=/etc/x for three words.\n"
         "  [[ $current == = ]] && current=\n"
         "  if [[ $current != -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    return 0\n"
         "  fi\n"
         "  local words='" +
         BashWords(CommonOptions()) +
         "'\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null\n"
         "  return 0\n"
         "}\n"
         "complete -F _tsdb tsdb\n";
}

std::string ZshCompletion() {
  std::string names;
  std::string cases;
  for (const Command* command : Commands()) {
    names += "    '" + std::string(command->name) + ":" + ShellText(command->summary) + "'\n";
    cases += "    " + std::string(command->name) + ")\n      _arguments \"${common[@]}\"" +
             ZshOptions(command->options) + " \\\n        '*:word:_files' ;;\n";
  }
  return "#compdef tsdb\n"
         "# zsh completion of tsdb, made of the program's own table of commands.\n"
         "_tsdb() {\n"
         "  local -a commands common\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  common=(" +
         ZshOptions(CommonOptions()) +
         ")\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case ${words[1]} in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_tsdb \"$@\"\n";
}

std::string FishCompletion() {
  std::string out =
      "# fish completion of tsdb, made of the program's own table of commands.\n"
      "function __tsdb_at_command\n"
      "    test (count (commandline -opc)) -eq 1\n"
      "end\n"
      "function __tsdb_command_is\n"
      "    set -l words (commandline -opc)\n"
      "    test (count $words) -gt 1; and test \"$words[2]\" = $argv[1]\n"
      "end\n"
      "complete -c tsdb -n __tsdb_at_command -f\n";
  for (const Command* command : Commands()) {
    out += "complete -c tsdb -n __tsdb_at_command -a " + std::string(command->name) + " -d '" +
           FishText(command->summary) + "'\n";
  }
  out += FishOptions("not __tsdb_at_command", CommonOptions());
  for (const Command* command : Commands())
    out += FishOptions("__tsdb_command_is " + std::string(command->name), command->options);
  return out;
}

}  // namespace hg::tsd
