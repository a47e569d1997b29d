// Tells ThreadSanitizer about contended locks of Swift's Mutex on Linux. The library with the slow paths is not built
// with the sanitizer, which would report each contended access as a race. Loaded before that library, this one wraps
// its two slow paths; the fast ones are inlined into the caller, where the sanitizer sees them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Absent in programs built without the sanitizer, such as swift itself.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slowly(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) {
    SWIFT void (*original)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, LOCK);
    original(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slowly(SELF void *mutex) {
    SWIFT void (*original)(SELF void *) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    original(mutex);
}
