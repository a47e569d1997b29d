import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Numbers threads on first use, so that each can count in its own place.
enum ThreadNumber {
    private static let last = Atomic(0)
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The number of the current thread, from 1; 0 where the system keeps none.
    static var current: Int {
        guard let key else { return 0 }
        if let number = pthread_getspecific(key) { return Int(bitPattern: number) }
        let number = last.add(1, ordering: .relaxed).newValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }
}
