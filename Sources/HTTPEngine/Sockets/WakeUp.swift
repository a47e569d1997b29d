#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A self-pipe: any thread writes to it to wake the loop that watches it.
final class WakeUp: Sendable {
    /// The end that the loop watches for reading.
    let descriptor: Int32
    private let writer: Int32

    init() throws(ServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .lastFailure(of: "pipe") }
        descriptor = ends[0]
        writer = ends[1]
        ends.forEach(makeNonBlocking)
    }

    deinit {
        closeDescriptor(descriptor)
        closeDescriptor(writer)
    }

    /// Wakes the loop. A full pipe is no failure: the loop is about to wake up.
    func signal() {
        var byte: UInt8 = 0
        _ = write(writer, &byte, 1)
    }

    /// Consumes all signals so far.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
