#include <doctest/doctest.h>

#include "tests/storage/points/embedded/embedded_subject.h"

namespace hg {
namespace {

TEST_CASE("the embedded store keeps the contract of the cells door") {
  CheckStoreContract([] {
    return std::make_unique<EmbeddedSubject>(
        KeyLayout{}, std::vector<TableDescriptor>{{"unused", {{"t"}}, true}}, 1'000'000);
  });
}

TEST_CASE("the embedded store keeps the contract of the points door") {
  CheckPointsContract([](const KeyLayout& layout) {
    return std::make_unique<EmbeddedSubject>(layout, EmbeddedOptions::DefaultTables(),
                                             1'700'000'000'000);
  });
}

}  // namespace
}  // namespace hg
