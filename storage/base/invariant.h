#pragma once
// INVARIANT(condition) checks for programming errors, in release builds too. If the condition is
// false, it prints the place and aborts. Do not use it for data from disk, network or users:
// invalid data is reported by a Status.

namespace hg {
[[noreturn]] void InvariantFailed(const char* condition, const char* file, int line);
}

#define INVARIANT(condition)                    \
  (__builtin_expect(!!(condition), 1) ? void(0) \
                                      : ::hg::InvariantFailed(#condition, __FILE__, __LINE__))
