// query_client: sends requests from a file over one keep-alive connection, one after the other, and
// says how long an answer took. A line is a path, asked with GET, or a path, a tab and a JSON body,
// sent with POST. The whole answer is read; it is not parsed.
//
//   query_client --port 4242 --paths FILE [--passes 3] [--pid PID]
//
// Last line: answers, median and p99 in microseconds, bytes of the median body, and microseconds of
// processor that process PID took for an answer. An answer other than 200 ends it.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measuring.h"

namespace {

using hg::bench::Die;

/// One connection; reads answers with Content-Length and chunked ones.
class Connection {
 public:
  explicit Connection(uint16_t port)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        host_("127.0.0.1:" + std::to_string(port)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      Die("cannot connect to " + host_ + ": " + std::strerror(errno));
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  /// The request of a line of the file.
  [[nodiscard]] std::string Request(const std::string& line) const {
    const size_t tab = line.find('\t');
    const std::string path = line.substr(0, tab);
    if (tab == std::string::npos) return "GET " + path + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n";
    const std::string body = line.substr(tab + 1);
    return "POST " + path + " HTTP/1.1\r\nHost: " + host_ +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  /// Bytes of the answer's body.
  size_t Ask(const std::string& request) {
    if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      Die(std::string("send: ") + std::strerror(errno));
    }
    in_.clear();
    at_ = 0;
    const std::string head = ReadUntil("\r\n\r\n");
    const size_t body = Chunked(head) ? ReadChunks() : ReadExactly(ContentLength(head));
    if (head.find(" 200 ") != head.find(' ')) Die(request + " answered: " + in_.substr(0, 2000));
    return body;
  }

 private:
  static std::string Lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return text;
  }
  static bool Chunked(const std::string& head) {
    return Lower(head).find("\r\ntransfer-encoding: chunked\r\n") != std::string::npos;
  }
  static size_t ContentLength(const std::string& head) {
    static constexpr std::string_view kName = "\r\ncontent-length:";
    const size_t at = Lower(head).find(kName);
    if (at == std::string::npos) Die("an answer of unknown length: " + head);
    return static_cast<size_t>(std::atoll(head.c_str() + at + kName.size()));
  }

  void Fill() {
    std::array<char, 65536> buffer;
    const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
    if (n <= 0) Die("the server closed the connection");
    in_.append(buffer.data(), static_cast<size_t>(n));
  }
  std::string ReadUntil(std::string_view mark) {
    size_t found = 0;
    while ((found = in_.find(mark, at_)) == std::string::npos) Fill();
    std::string text = in_.substr(at_, found + mark.size() - at_);
    at_ = found + mark.size();
    return text;
  }
  size_t ReadExactly(size_t count) {
    while (in_.size() - at_ < count) Fill();
    at_ += count;
    return count;
  }
  size_t ReadChunks() {
    size_t total = 0;
    for (;;) {
      const std::string line = ReadUntil("\r\n");
      size_t size = 0;
      std::from_chars(line.data(), line.data() + line.size(), size, 16);
      ReadExactly(size + 2);
      if (size == 0) return total;
      total += size;
    }
  }

  const int fd_;
  const std::string host_;
  std::string in_;
  size_t at_ = 0;
};

template <typename T>
T Quantile(std::vector<T> values, double q) {
  const auto at =
      values.begin() + static_cast<ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

int main(int argc, char** argv) {
  uint16_t port = 4242;
  std::string paths_file;
  int passes = 1;
  int pid = 0;
  CLI::App app("Sends requests one after the other and says how long an answer took.");
  app.add_option("--port", port, "port on 127.0.0.1");
  app.add_option("--paths", paths_file,
                 "file of paths, one a line, with a tab and a body if it is a POST")
      ->required();
  app.add_option("--passes", passes, "times the file is gone through");
  app.add_option("--pid", pid, "process whose CPU time is read");
  CLI11_PARSE(app, argc, argv);

  Connection connection(port);
  std::vector<std::string> requests;
  std::ifstream in(paths_file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) requests.push_back(connection.Request(line));
  }
  if (requests.empty()) Die("no path in " + paths_file);

  const double cpu_before = pid != 0 ? hg::bench::ProcessCpuSeconds(pid) : 0;
  std::vector<double> micros;
  std::vector<size_t> bytes;
  for (int pass = 0; pass < passes; ++pass) {
    for (const std::string& request : requests) {
      const auto began = std::chrono::steady_clock::now();
      bytes.push_back(connection.Ask(request));
      micros.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
              .count());
    }
  }
  const double cpu = pid != 0 ? hg::bench::ProcessCpuSeconds(pid) - cpu_before : 0;
  std::printf("answers %zu median_us %.1f p99_us %.1f bytes %zu cpu_us %.1f\n", micros.size(),
              Quantile(micros, 0.5), Quantile(micros, 0.99), Quantile(bytes, 0.5),
              cpu * 1e6 / static_cast<double>(micros.size()));
  return 0;
}
