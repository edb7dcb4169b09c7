#pragma once
// Opens an embedded store for tests that do the work of the background threads themselves.

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "storage/engine/embedded.h"

namespace hg {

/// Opens the store in the folder "d" of the disk, without background threads.
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
