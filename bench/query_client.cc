// query_client: sends requests from a file over keep-alive connections and measures the time until
// the response. A line of the file is a path, which is requested with GET, or a path, a tab and a
// JSON body, which are sent with POST. With --snappy the body is hexadecimal: packed protobuf. The
// whole response is read but not parsed.
//
//   query_client --port 4242 --paths FILE [--passes 3] [--pid PID] [--connections 1] [--rate 0]
//
// The last line has: responses, responses/s, latencies in microseconds, bytes of the median body,
// and CPU microseconds of the processes per response. A response other than 200 ends the
// measurement.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/measuring.h"
#include "bench/process_tree.h"
#include "bench/reporting.h"
#include "bench/sender.h"
#include "storage/base/hex_digit.h"

namespace {

std::string BytesOfHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = hg::HexDigit(hex[i]);
    const int low = i + 1 < hex.size() ? hg::HexDigit(hex[i + 1]) : -1;
    if (high < 0 || low < 0) hg::bench::Die("no hexadecimal bytes: " + hex);
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

/// Returns the request for a line of the file.
std::string Request(const std::string& line, const std::string& host, bool snappy) {
  const size_t tab = line.find('\t');
  const std::string path = line.substr(0, tab);
  if (tab == std::string::npos) return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  const std::string text = line.substr(tab + 1);
  const std::string body = snappy ? BytesOfHex(text) : text;
  const char* const type =
      snappy ? "application/x-protobuf\r\nContent-Encoding: snappy" : "application/json";
  return "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hg::bench;
  uint16_t port = 4242;
  std::string paths_file;
  int passes = 1;
  double seconds = 0;
  std::string pids;
  size_t connections = 1;
  double rate = 0;
  std::string histogram;
  bool snappy = false;
  CLI::App app("Sends requests and says how long an answer took.");
  app.add_option("--port", port, "port on 127.0.0.1");
  app.add_option("--paths", paths_file,
                 "file of paths, one a line, with a tab and a body if it is a POST")
      ->required();
  app.add_flag("--snappy", snappy, "bodies are hexadecimal: protobuf packed with snappy");
  app.add_option("--passes", passes, "times the file is gone through");
  app.add_option("--seconds", seconds, "go through the file until so much time is over");
  app.add_option("--pid", pids,
                 "processes, with commas, whose processor time is read, with their children's");
  app.add_option("--connections", connections, "keep-alive connections");
  app.add_option("--rate", rate, "requests that fall due a second (open loop); 0: closed");
  app.add_option("--histogram", histogram, "file for the latencies");
  CLI11_PARSE(app, argc, argv);

  std::vector<std::string> requests;
  std::ifstream in(paths_file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    requests.push_back(Request(line, "127.0.0.1:" + std::to_string(port), snappy));
  }
  if (requests.empty()) Die("no path in " + paths_file);

  using Clock = std::chrono::steady_clock;
  Sender sender(port, connections, 200);
  const ProcessTree server = ProcessTree::Parse(pids);
  const double cpu_before = server.CpuSeconds();
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  double took = 0;
  for (int pass = 0; seconds > 0 ? Clock::now() < until : pass < passes; ++pass) {
    took += sender.SendAll(requests, rate);
  }
  const double cpu = server.CpuSeconds() - cpu_before;
  const auto answers = static_cast<double>(sender.latencies().count());
  std::printf("answers %.0f rate %.1f ", answers, answers / took);
  PrintLatencies(sender.latencies());
  std::printf(" bytes %llu cpu_us %.1f\n",
              static_cast<unsigned long long>(sender.body_bytes().Quantile(0.5)),
              cpu * 1e6 / answers);
  if (!histogram.empty()) WriteHistogram(sender.latencies(), histogram);
  return 0;
}
