#pragma once
// Queries that run at the moment, so that the same one of the same client can be refused
// (tsd.query.allow_simultaneous_duplicates=false).

#include <list>
#include <mutex>
#include <string>

#include "query/request.h"

namespace hg::query {

/// Thread-safe.
class RunningQueries {
  struct Entry {
    std::string client;
    const Request* request;
  };

 public:
  /// While it lives the query counts as running.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept : owner_(other.owner_), entry_(other.entry_) {
      other.owner_ = nullptr;
    }
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (owner_ != nullptr) owner_->Leave(entry_);
    }
    /// False: the same query of that client was running already.
    [[nodiscard]] bool entered() const { return owner_ != nullptr; }

   private:
    friend class RunningQueries;
    Ticket() = default;
    Ticket(RunningQueries* owner, std::list<Entry>::iterator entry)
        : owner_(owner), entry_(entry) {}
    RunningQueries* owner_ = nullptr;
    std::list<Entry>::iterator entry_;
  };

  /// `request` outlives the ticket.
  Ticket Enter(const std::string& client, const Request& request) {
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.client == client && *entry.request == request) return {};
    }
    return {this, entries_.insert(entries_.end(), {client, &request})};
  }

 private:
  void Leave(std::list<Entry>::iterator entry) {
    std::lock_guard lock(mutex_);
    entries_.erase(entry);
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // guarded by mutex_
};

}  // namespace hg::query
