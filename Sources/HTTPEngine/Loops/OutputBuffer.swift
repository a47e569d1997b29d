/// Bytes on their way to the client.
struct OutputBuffer {
    /// The bytes to send; encoders append here.
    var bytes: [UInt8] = []
    private var sent = 0

    /// The number of unsent bytes.
    var count: Int { bytes.count - sent }

    /// Writes until the buffer is empty or the client accepts no more, and returns how many bytes were sent.
    ///
    /// `nil` when the connection is broken.
    mutating func flush(to transport: Transport) -> Int? {
        var total = 0
        while sent < bytes.count {
            let transfer = bytes.withUnsafeBytes { transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch transfer {
            case .moved(let count):
                sent += count
                total += count
            case .wouldBlock:
                letGo()
                return total
            case .ended, .broken: return nil
            }
        }
        reset()
        return total
    }

    /// Drops the sent part of a buffer that may never drain; only from half of it on, so that moving the rest pays.
    private mutating func letGo() {
        guard sent >= 64 * 1024, sent >= bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }

    /// Keeps a small buffer for the next answer and frees a large one.
    private mutating func reset() {
        sent = 0
        bytes.capacity > 4096 ? bytes = [] : bytes.removeAll(keepingCapacity: true)
    }
}
