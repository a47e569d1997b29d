#if canImport(Glibc)
    internal import CEpoll
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
}
