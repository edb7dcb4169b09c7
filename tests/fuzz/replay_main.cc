// Runs the function of a fuzzer over stored inputs without a fuzzing library, so every build can do
// it. Arguments: folders with one input per file, and *.hex files with one input per line. A
// violated invariant ends the program, which names the input.

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

struct Input {
  std::string name;
  std::string bytes;
};

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns false for a line that is not hexadecimal.
bool ReadHexLines(const std::filesystem::path& path, std::vector<Input>* inputs) {
  std::ifstream file(path);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    std::string bytes;
    const std::string name = path.string() + ":" + std::to_string(number);
    if (!hg::FromHex(line, &bytes))
      return std::printf("FAIL %s is no input\n", name.c_str()), false;
    inputs->push_back({name, std::move(bytes)});
  }
  return true;
}

/// The name of the current input, for the message if the program ends.
std::string running;

void SayWhich(int signal) {
  const std::string_view end = " is what breaks it\n";
  (void)!::write(STDERR_FILENO, running.data(), running.size());
  (void)!::write(STDERR_FILENO, end.data(), end.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Input> inputs;
  bool good = true;
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, SayWhich);
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path(argv[i]);
    if (path.extension() == ".hex") {
      good = ReadHexLines(path, &inputs) && good;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      inputs.push_back({entry.path().string(), ReadAll(entry.path())});
  }
  for (const Input& input : inputs) {
    running = input.name;
    // A block of exactly the size, so that a sanitizer finds reads beyond it.
    const std::vector<uint8_t> block(input.bytes.begin(), input.bytes.end());
    LLVMFuzzerTestOneInput(block.data(), block.size());
  }
  good = good && !inputs.empty();
  std::printf("%zu passed, %d failed\n", inputs.size(), good ? 0 : 1);
  return good ? 0 : 1;
}
