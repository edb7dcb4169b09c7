// put_client: sends a prepared load of points (bench/load.h) over N keep-alive connections. It
// reports how fast the server accepted the load, and how much CPU time and memory the server used.
//
//   put_client --port 4242 --pid PID[,PID...] [--wire put] [--batch 5000] [--connections 4] ...
//
// --wire telnet, graphite and pickle have no acknowledgement. A pass then ends when the server has
// closed every connection after the client has closed its side, because everything is read and
// parsed by then.
//
// With --each and --rate all passes follow one schedule: requests that are due while the server
// stalls are sent later, and their waiting time counts.
//
// The last line has: points, seconds, points/s, CPU nanoseconds per point of the processes while
// sending and including the work until --settle seconds later (flush, merge), latencies of requests
// in microseconds, requests that were refused (503) and sent again, and the resident memory of the
// processes at the end.

#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/load.h"
#include "bench/measuring.h"
#include "bench/process_tree.h"
#include "bench/reporting.h"
#include "bench/sender.h"

namespace hg::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Sends lines over blocking connections, one thread each, and waits until the server has closed
/// all of them. Returns the seconds that this took. A reply means that a line was refused and ends
/// the measurement.
double SendLines(uint16_t port, size_t connections, const std::vector<std::string>& requests) {
  const auto began = Clock::now();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < connections; ++i) {
    threads.emplace_back([port, connections, i, &requests] {
      const int fd = Connect(port);
      for (size_t r = i; r < requests.size(); r += connections) {
        for (size_t sent = 0; sent < requests[r].size();) {
          const ssize_t n =
              send(fd, requests[r].data() + sent, requests[r].size() - sent, MSG_NOSIGNAL);
          if (n < 0) Die(std::string("send: ") + std::strerror(errno));
          sent += static_cast<size_t>(n);
        }
      }
      shutdown(fd, SHUT_WR);
      std::array<char, 4096> buffer;
      const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
      if (n < 0) Die(std::string("recv: ") + std::strerror(errno));
      if (n > 0) Die("answered: " + std::string(buffer.data(), static_cast<size_t>(n)));
      close(fd);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

struct Options {
  LoadShape shape;
  uint16_t port = 4242;
  std::string pids;
  size_t connections = 4;
  uint32_t passes = 5;
  double seconds = 0;
  double rate = 0;
  double settle_s = 0;
  bool fresh = false;
  bool each = false;
  std::string histogram;
};

void Run(const Options& options) {
  Load load(options.shape, "127.0.0.1:" + std::to_string(options.port));
  const bool lines = IsUnanswered(options.shape.wire);
  Sender sender(options.port, lines ? 0 : options.connections, StatusOfSuccess(options.shape.wire));
  const ProcessTree server = ProcessTree::Parse(options.pids);
  const double cpu_before = server.CpuSeconds();
  const auto until = Clock::now() + std::chrono::duration<double>(options.seconds);
  double seconds = 0;
  double cpu_sending = 0;
  double points = 0;
  // With --each, a pass is due when the previous one should have ended.
  const auto began = Clock::now();
  double due_s = 0;
  for (uint32_t pass = 0; options.seconds > 0 ? Clock::now() < until : pass < options.passes;
       ++pass) {
    if (pass > 0) options.fresh ? load.GoOn() : load.MoveOn();
    std::optional<Clock::time_point> first_due;
    if (options.each && options.rate > 0) {
      first_due =
          began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due_s));
      due_s += static_cast<double>(load.requests().size()) / options.rate;
    }
    const double cpu = server.CpuSeconds();
    seconds += lines ? SendLines(options.port, options.connections, load.requests())
                     : sender.SendAll(load.requests(), options.rate, first_due);
    if (options.each) {
      std::printf("pass %u ", pass);
      PrintLatencies(sender.TakeLatencies());
      std::printf("\n");
      std::fflush(stdout);
    }
    cpu_sending += server.CpuSeconds() - cpu;
    points += static_cast<double>(load.points());
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(options.settle_s));
  const double cpu_all = server.CpuSeconds() - cpu_before;
  std::printf("points %.0f seconds %.3f rate %.0f cpu_ns %.1f settled_cpu_ns %.1f ", points,
              seconds, points / seconds, cpu_sending / points * 1e9, cpu_all / points * 1e9);
  PrintLatencies(sender.latencies());
  std::printf(" refused %llu resident_mib %.1f\n",
              static_cast<unsigned long long>(sender.refused()),
              static_cast<double>(server.ResidentBytes()) / (1 << 20));
  if (!options.histogram.empty()) WriteHistogram(sender.latencies(), options.histogram);
}

}  // namespace
}  // namespace hg::bench

int main(int argc, char** argv) {
  using namespace hg::bench;
  Options options;
  LoadShape& shape = options.shape;
  bool create = false;
  CLI::App app("Sends points and says how fast they were accepted and what they cost the server.");
  app.add_option("--port", options.port, "port on 127.0.0.1");
  app.add_option("--pid", options.pids,
                 "processes, with commas, whose processor time counts, with their children's");
  const std::map<std::string, Wire> wires = {
      {"put", Wire::kPut},           {"telnet", Wire::kTelnet},     {"influx", Wire::kInflux},
      {"graphite", Wire::kGraphite}, {"pickle", Wire::kPickle},     {"remote", Wire::kRemote},
      {"otlp", Wire::kOtlp},         {"otlp-json", Wire::kOtlpJson}};
  app.add_option("--wire", shape.wire,
                 "put, telnet, influx, graphite, pickle, remote, otlp or otlp-json")
      ->transform(CLI::CheckedTransformer(wires));
  app.add_option("--path", shape.path, "where requests go, if not where they usually do");
  app.add_option("--hosts", shape.hosts, "hosts");
  app.add_option("--metrics", shape.metrics, "metrics of each host")
      ->check(CLI::Range(1U, kMetricsMax));
  app.add_option("--tags", shape.tags, "tags of each host")->check(CLI::Range(1U, kTagsMax));
  app.add_option("--steps", shape.steps, "points of each series in one pass");
  app.add_option("--step", shape.step_s, "seconds between points");
  app.add_option("--batch", shape.batch, "points a request");
  app.add_option("--start", shape.start_s, "time of the first point, in seconds");
  app.add_flag("--ms", shape.milliseconds, "write times in milliseconds");
  app.add_option("--decimals", shape.decimals, "digits behind the dot, 0 = integers, 16 = doubles");
  app.add_option("--seed", shape.seed, "of the random walks");
  app.add_flag("--gzip", shape.gzip, "compressed bodies");
  const std::map<std::string, Values> kinds = {
      {"walk", Values::kWalk}, {"counter", Values::kCounter}, {"constant", Values::kConstant}};
  app.add_option("--values", shape.values, "walk, counter or constant")
      ->transform(CLI::CheckedTransformer(kinds));
  app.add_option("--connections", options.connections, "keep-alive connections");
  app.add_option("--passes", options.passes,
                 "times the prepared load is sent, each as the time that follows");
  app.add_option("--seconds", options.seconds, "send passes until so much time is over");
  app.add_option("--rate", options.rate, "requests that fall due a second (open loop); 0: closed");
  app.add_option("--settle", options.settle_s,
                 "seconds to wait before the processor time is read once more");
  app.add_flag("--fresh", options.fresh, "new values in each pass, not the same again");
  app.add_flag("--each", options.each,
               "a line of latencies for each pass; the last line then has none");
  app.add_flag("--create", create,
               "only create the series: one point each, an hour before --start");
  app.add_option("--histogram", options.histogram, "file for the latencies");
  CLI11_PARSE(app, argc, argv);
  if (create) {
    shape.steps = 1;
    shape.start_s -= 3600;
    options.passes = 1;
  }
  Run(options);
  return 0;
}
