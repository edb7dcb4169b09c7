#pragma once

namespace hg {

/// Whether the tests are built with ThreadSanitizer, which makes code 5 to 30 times slower. Tests
/// that repeat one thread's work many times then repeat it less often.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace hg
