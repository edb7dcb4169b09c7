// write_manual FOLDER writes manual pages and completions below FOLDER, in the layout of
// /usr/share. The build runs it.

#include <filesystem>
#include <fstream>
#include <iostream>

#include "tsd/manual/completions.h"
#include "tsd/manual/pages.h"
#include "tsd/program.h"

namespace {

bool Write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::cerr << "write_manual: cannot write " << path << "\n";
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_manual FOLDER\n";
    return 2;
  }
  const std::filesystem::path share = argv[1];
  bool good = Write(share / "man/man1/tsdb.1", hg::tsd::ProgramPage());
  for (const hg::tsd::Command* command : hg::tsd::Commands()) {
    const std::string name = "tsdb-" + std::string(command->name) + ".1";
    good = Write(share / "man/man1" / name, hg::tsd::CommandPage(*command)) && good;
  }
  good = Write(share / "bash-completion/completions/tsdb", hg::tsd::BashCompletion()) && good;
  good = Write(share / "zsh/vendor-completions/_tsdb", hg::tsd::ZshCompletion()) && good;
  good = Write(share / "fish/vendor_completions.d/tsdb.fish", hg::tsd::FishCompletion()) && good;
  return good ? 0 : 1;
}
