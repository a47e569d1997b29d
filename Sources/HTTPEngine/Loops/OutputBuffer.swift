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

    /// Gives up what is sent of a buffer that may never drain to its end; half of it, so that moving the rest pays.
    private mutating func letGo() {
        guard sent >= 64 * 1024, sent >= bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }

    /// Keeps a small buffer for the next answer and gives a large one back.
    private mutating func reset() {
        sent = 0
        bytes.capacity > 4096 ? bytes = [] : bytes.removeAll(keepingCapacity: true)
    }
}
