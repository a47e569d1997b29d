#if canImport(Glibc)
    internal import CEpoll
    internal import Glibc
#endif

/// Settings of the process's memory allocator.
package enum ProcessMemory {
    /// Returns large buffers to the system as soon as they are freed; call it at the start of a program.
    ///
    /// When glibc first frees a large buffer, it raises its threshold, and from then on keeps buffers of up to 32 MB in
    /// the heap, which hardly ever shrinks. Other allocators need no such hint.
    package static func returnLargeBuffers() {
        #if canImport(Glibc)
            // glibc's initial threshold; set explicitly, it stays fixed.
            _ = mallopt(M_MMAP_THRESHOLD, 128 * 1024)
        #endif
    }

    /// Reserves less address space, which some systems restrict; call it at the start of a program, before there are
    /// threads.
    ///
    /// For nearly every thread, glibc reserves 64 MB for allocations and 8 MB for the stack. One heap per loop is no
    /// slower, and 2 MB of stack suffice, since recursion on external input is bounded.
    package static func reserveLess() {
        #if canImport(Glibc)
            _ = mallopt(M_ARENA_MAX, Int32(clamping: max(2, ServerConfiguration.coreCount)))
            var attributes = pthread_attr_t()
            guard pthread_attr_init(&attributes) == 0 else { return }
            defer { pthread_attr_destroy(&attributes) }
            guard pthread_attr_setstacksize(&attributes, 2 << 20) == 0 else { return }
            // On failure the default size remains.
            _ = pthread_setattr_default_np(&attributes)
        #endif
    }

    /// Lets go of the pages of the program and its libraries, most of which only the start needs; the next use of one
    /// finds it in the system's cache.
    package static func releaseCode() {
        #if os(Linux)
            guard let file = fopen("/proc/self/maps", "r") else { return }
            defer { fclose(file) }
            var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
            defer { free(line) }
            while getline(&line, &capacity, file) > 0, let text = line.map({ String(cString: $0) }) {
                let parts = text.split(separator: " ")
                let bounds = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                // Code of a file is never written, so that the file has all of it.
                guard parts.count > 5, parts[1] == "r-xp", parts[5].hasPrefix("/"), bounds.count == 2 else { continue }
                _ = madvise(UnsafeMutableRawPointer(bitPattern: bounds[0]), Int(bounds[1] - bounds[0]), MADV_DONTNEED)
            }
        #endif
    }
}
