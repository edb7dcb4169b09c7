#include "bench/process_tree.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using hg::bench::ProcessTree;

TEST_CASE("the resources of a process include its children, and an empty list has none") {
  const ProcessTree me = ProcessTree::Parse(std::to_string(getpid()));
  const uint64_t alone = me.ResidentBytes();
  CHECK(alone > 0);
  CHECK(me.CpuSeconds() > 0);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    [[maybe_unused]] const ssize_t told = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char told = 0;
  REQUIRE(read(ready[0], &told, 1) == 1);  // from now on the child's memory does not change
  close(ready[0]);
  close(ready[1]);
  const ProcessTree both =
      ProcessTree::Parse(std::to_string(getpid()) + "," + std::to_string(child));
  const uint64_t of_child = ProcessTree::Parse(std::to_string(child)).ResidentBytes();
  CHECK(of_child > 0);
  CHECK(me.ResidentBytes() >= alone / 2 + of_child);
  CHECK(both.ResidentBytes() < me.ResidentBytes() + of_child);  // no process is counted twice
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(ProcessTree::Parse("").CpuSeconds() == 0);
  CHECK(ProcessTree::Parse("").ResidentBytes() == 0);
}
