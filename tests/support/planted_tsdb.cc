// The program over a store in memory with a deliberate defect: a lookup of names that begin with
// "planted" never ends and does not check its request. tests/fault/endpoints.py must fail for it.

#include <atomic>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include "tests/support/model_backend.h"
#include "tsd/counted_store.h"
#include "tsd/program.h"

namespace hg::tsd {
namespace {

class PlantedStore : public CountedStore {
 public:
  using CountedStore::CountedStore;

  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override {
    // Atomic, so that the compiler keeps the loop.
    std::atomic<uint64_t> turns{0};
    while (std::string_view(spec.start).starts_with("planted")) turns.fetch_add(1);
    return CountedStore::Scan(spec);
  }
};

}  // namespace
}  // namespace hg::tsd

int main(int argc, char** argv) {
  const auto open = [](const hg::tsd::Config& config, const std::string& /*who*/,
                       hg::tsd::StoreUse /*use*/) {
    return hg::tsd::OpenModelBackendThrough(
        config, [&config](hg::Store& model) -> hg::Result<std::shared_ptr<hg::Store>> {
          RETURN_IF_ERROR(hg::tsd::CreateTables(config, model));
          return std::shared_ptr<hg::Store>(std::make_shared<hg::tsd::PlantedStore>(model));
        });
  };
  return hg::tsd::RunProgram({argv + 1, argv + argc}, open, std::cin, std::cout, std::cerr);
}
