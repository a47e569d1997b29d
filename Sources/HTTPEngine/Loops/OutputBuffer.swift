/// Bytes on their way to the client.
struct OutputBuffer {
    /// What is to be sent; encoders append here.
    var bytes: [UInt8] = []
    private var sent = 0

    /// How many bytes still have to go.
    var count: Int { bytes.count - sent }

    /// Writes until nothing is left or the client takes no more; the result says how many bytes went.
    ///
    /// `nil` when the connection is broken.
    mutating func flush(to transport: Transport) -> Int? {
        let before = sent
        while sent < bytes.count {
            let transfer = bytes.withUnsafeBytes { transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch transfer {
            case .moved(let count): sent += count
            case .wouldBlock: return sent - before
            case .ended, .broken: return nil
            }
        }
        defer { reset() }
        return sent - before
    }

    /// Keeps a small buffer for the next answer and gives a large one back.
    private mutating func reset() {
        sent = 0
        bytes.capacity > 4096 ? bytes = [] : bytes.removeAll(keepingCapacity: true)
    }
}
