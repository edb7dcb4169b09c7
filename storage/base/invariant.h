#pragma once
// INVARIANT(condition): on in release too, for what only our own mistake can cause; prints where
// and aborts. Never for bytes from disk, network or user: those get a Status.

namespace hg {
[[noreturn]] void InvariantFailed(const char* condition, const char* file, int line);
}

#define INVARIANT(condition)                    \
  (__builtin_expect(!!(condition), 1) ? void(0) \
                                      : ::hg::InvariantFailed(#condition, __FILE__, __LINE__))
