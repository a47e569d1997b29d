#if canImport(Glibc)
    internal import CEpoll
    internal import Glibc
#endif

/// How the process deals with its memory.
public enum ProcessMemory {
    /// Has large buffers go back to the system as soon as nobody needs them; for a program to call at its start.
    ///
    /// When the first large buffer is freed, glibc's allocator expects more of its kind, and from then on keeps buffers of
    /// up to 32 MB among the small ones, where hardly any memory returns from. Other allocators need not be told.
    public static func returnLargeBuffers() {
        #if canImport(Glibc)
            // The size with which glibc begins; said by the program, it stays.
            _ = mallopt(M_MMAP_THRESHOLD, 128 * 1024)
        #endif
    }

    /// Has the process reserve less address space, of which some systems give out little; for a program to call at its start,
    /// before there are threads.
    ///
    /// glibc reserves 64 MB for the allocations of nearly every thread, and 8 MB for its stack, whatever they use of it. One
    /// heap a loop, and 2 MB, are no slower and as deep as anything here goes: what comes from outside has a bounded depth.
    public static func reserveLess() {
        #if canImport(Glibc)
            _ = mallopt(M_ARENA_MAX, Int32(clamping: max(2, ServerConfiguration.coreCount)))
            var attributes = pthread_attr_t()
            guard pthread_attr_init(&attributes) == 0 else { return }
            defer { pthread_attr_destroy(&attributes) }
            guard pthread_attr_setstacksize(&attributes, 2 << 20) == 0 else { return }
            // Without it they are as large as they were.
            _ = pthread_setattr_default_np(&attributes)
        #endif
    }
}
