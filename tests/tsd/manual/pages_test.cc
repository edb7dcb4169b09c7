#include "tsd/manual/pages.h"

#include <doctest/doctest.h>

#include "tsd/program.h"

namespace hg::tsd {
namespace {

bool Has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

TEST_CASE("a manual page has the summary, words, details and options of --help") {
  for (const Command* command : Commands()) {
    CAPTURE(command->name);
    const std::string page = CommandPage(*command);
    std::string plain;  // the page as a terminal shows it
    for (size_t i = 0; i < page.size(); ++i) {
      if (page.compare(i, 2, "\\-") == 0) {
        plain += '-';
        ++i;
      } else if (page.compare(i, 2, "\\&") == 0) {
        ++i;
      } else if (page.compare(i, 2, "\\e") == 0) {
        plain += '\\';
        ++i;
      } else {
        plain += page[i];
      }
    }
    CHECK(Has(plain, std::string(command->summary)));
    CHECK(Has(plain, std::string(command->words)));
    CHECK(Has(plain, std::string(command->details)));
    for (const auto options : {command->options, CommonOptions()}) {
      for (const OptionSpec& option : options) {
        CHECK(Has(plain, "\n.B \"" + std::string(option.name)));
        CHECK(Has(plain, std::string(option.help)));
      }
    }
  }
}

TEST_CASE("the manual page of the program refers to the pages of all commands") {
  const std::string page = ProgramPage();
  for (const Command* command : Commands())
    CHECK(Has(page, "\n.BR \"tsdb\\-" + std::string(command->name) + "\" (1)\n"));
}

TEST_CASE("no text of a manual page is interpreted as a troff command") {
  const Command command{"x", "'w", ".s", "one\n.two\n'three \\ four", {}, "", nullptr};
  const std::string page = CommandPage(command);
  CHECK(Has(page, "\n\\&'w\n"));
  CHECK(Has(page, "\n\\&.s\n"));
  CHECK(Has(page, "one\n\\&.two\n\\&'three \\e four\n"));
}

}  // namespace
}  // namespace hg::tsd
