#pragma once
// An embedded engine with its cell store and its point store, for tests that close and reopen the
// engine.

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "storage/engine/embedded_points.h"
#include "storage/engine/embedded_store.h"
#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// An embedded engine without background threads. Its files are in the folder "d" of `disk`.
template <typename Disk = FaultyFileSystem>
struct EngineRig {
  EngineRig(int64_t now_ms, EmbeddedOptions with) : clock(now_ms), options(std::move(with)) {
    options.path = "d";
    options.background = false;
    Open();
  }

  void Close() {
    cells.reset();
    points.reset();
    engine.reset();
  }
  void Open() {
    Close();
    auto opened = engine::Engine::Open(options, disk, clock);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    points = std::make_unique<engine::EmbeddedPoints>(*engine);
    cells = std::make_unique<engine::EmbeddedStore>(*engine);
  }
  void Flush() { REQUIRE(engine->Flush().ok()); }
  void Merge() {
    Flush();
    REQUIRE(engine->Compact().ok());
  }

  Disk disk{1};
  ManualClock clock;
  EmbeddedOptions options;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::EmbeddedPoints> points;
  std::unique_ptr<engine::EmbeddedStore> cells;
};

}  // namespace hg
