#pragma once
// A file that passes all calls to another file. Derived classes override some of its functions.

#include <memory>
#include <utility>

#include "storage/base/file.h"

namespace hg {

/// Passes all calls to another file, which this object owns.
class ForwardingFile : public File {
 public:
  explicit ForwardingFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  Status ReadAt(uint64_t offset, size_t size, Bytes* out) const override {
    return file_->ReadAt(offset, size, out);
  }
  Status WriteAt(uint64_t offset, ByteView bytes) override { return file_->WriteAt(offset, bytes); }
  Status Allocate(uint64_t size) override { return file_->Allocate(size); }
  Status Truncate(uint64_t size) override { return file_->Truncate(size); }
  Status Sync() override { return file_->Sync(); }
  void ForgetCached() const override { file_->ForgetCached(); }
  Result<uint64_t> Size() const override { return file_->Size(); }

 private:
  const std::unique_ptr<File> file_;
};

}  // namespace hg
