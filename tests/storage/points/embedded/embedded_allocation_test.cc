// A want of memory, wherever it comes, breaks work off and nothing else: what was written before
// and what is written after it is there, and the work comes through when memory is back.

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <new>

#include "storage/points/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace {
// Of this thread: so many allocations succeed, the next one fails; < 0: none fails.
thread_local int64_t allocations_left = -1;
}  // namespace

void* operator new(size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// std::stable_sort asks for its room this way, and does without.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace hg {
namespace {

// Whether the work came to its end although allocation n of it failed, if it has so many: then
// *failed.
template <typename Work>
bool Starve(int64_t n, bool* failed, const Work& work) {
  allocations_left = n;
  bool ok = false;
  try {
    ok = work().ok();
  } catch (const std::bad_alloc&) {
  }
  *failed = allocations_left < 0;
  allocations_left = -1;
  return ok;
}

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{1'000'000};
  std::unique_ptr<Embedded> store;

  Rig() {
    EmbeddedOptions options;
    options.path = "d";
    options.background = false;
    options.log_file_bytes = 1 << 20;
    store = std::move(*Embedded::Open(options, disk, clock));
  }
  void Put(const char* row, int64_t n) {
    REQUIRE(
        store->cells().Mutate("tsdb-uid", {{row, {PutCell("id", "q", std::to_string(n))}}}).ok());
  }
  bool Has(const char* row, int64_t n) {
    const Result<Row> found = store->cells().Get("tsdb-uid", row);
    REQUIRE(found.ok());
    return found->cells.size() == 1 && found->cells[0].value == std::to_string(n);
  }
};

TEST_CASE(
    "a flush that breaks off at any allocation loses no row, and the next one comes through") {
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    Rig rig;
    rig.Put("before", n);
    (void)Starve(n, &failed, [&] { return rig.store->cells().Flush(); });
    rig.Put("after", n);
    REQUIRE(rig.Has("before", n));
    REQUIRE(rig.Has("after", n));
    REQUIRE(rig.store->cells().Flush().ok());
    REQUIRE(rig.Has("before", n));
    REQUIRE(rig.Has("after", n));
    REQUIRE(rig.store->Close().ok());
  }
}

TEST_CASE("what breaks off at any allocation holds no region") {
  const std::function<Status(Store&)> works[] = {
      [](Store& cells) { return cells.Compact(); },
      [](Store& cells) { return cells.Split("tsdb-uid", "b", Bytes("b")).status(); },
      [](Store& cells) { return cells.MergeRegions("tsdb-uid", "m"); },
  };
  for (const auto& work : works) {
    bool failed = true;
    for (int64_t n = 0; failed; ++n) {
      CAPTURE(n);
      Rig rig;
      Store& cells = rig.store->cells();
      REQUIRE(cells.Split("tsdb-uid", "m", Bytes("m")).ok());
      for (const char* row : {"a", "b", "z"}) rig.Put(row, n);
      REQUIRE(cells.Flush().ok());
      (void)Starve(n, &failed, [&] { return work(cells); });
      REQUIRE(cells.Compact().ok());  // would wait for ever
      for (const char* row : {"a", "b", "z"}) REQUIRE(rig.Has(row, n));
      REQUIRE(rig.store->Close().ok());
    }
  }
}

}  // namespace
}  // namespace hg
