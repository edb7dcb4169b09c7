#pragma once
// Opens an embedded store without background threads, for tests that call the background work
// themselves.

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "storage/engine/embedded.h"

namespace hg {

/// Opens the store in the folder "d" of `disk`, without background threads. If this fails, the test
/// case ends with a failure.
inline std::unique_ptr<Embedded> OpenEmbedded(FileSystem& disk, const Clock& clock,
                                              EmbeddedOptions options) {
  options.path = "d";
  options.background = false;
  auto opened = Embedded::Open(options, disk, clock);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  return std::move(*opened);
}

}  // namespace hg
