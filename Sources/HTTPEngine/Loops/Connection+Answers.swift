internal import Wire

/// An answer that is sent in chunks, and the rest of it.
struct Drip {
    var rest: ArraySlice<UInt8>
    /// The size of a chunk in bytes, at least 1.
    let portion: Int
    /// The pause between chunks.
    let pause: Duration
}

// How an answer is sent: at once and complete, or with the faults it asks for.
extension Connection {
    func send(_ response: Response, _ loop: EventLoop) {
        guard !response.isPlain else { return write(response, loop) }
        let delay = response.transmission.delay
        guard delay > .zero, !loop.isStopping else { return transmit(response, loop) }
        phase = .holding(response, delay)
    }

    /// Resumes a paused answer, without further pauses when stopping.
    func goOn(_ loop: EventLoop) {
        switch phase {
        case .holding(let response, _):
            phase = .reading
            transmit(response, loop)
        case .dripping(var drip):
            let portion = drip.rest.prefix(loop.isStopping ? .max : drip.portion)
            drip.rest = drip.rest.dropFirst(portion.count)
            output.bytes.append(contentsOf: portion)
            phase = drip.rest.isEmpty ? phaseAfterAnswer : .dripping(drip)
        case .reading, .answering, .conversing, .finishing, .lingering, .ended: break
        }
    }

    private func transmit(_ response: Response, _ loop: EventLoop) {
        switch response.transmission.fault {
        case nil: write(response, loop)
        case .reset:
            // Earlier answers are not part of the fault.
            _ = output.flush(to: transport)
            reset(loop)
        case .empty: phase = .finishing
        case .garbage:
            output.bytes.append(contentsOf: Self.garbage)
            phase = .finishing
        case .truncated(let bytes):
            write(response, loop)
            let content = ResponseEncoder.sendsContent(response, exchange) ? response.body.count : 0
            output.bytes.removeLast(max(0, content - max(0, bytes)))
            phase = .finishing
        case .drip(let portion, let pause):
            response.upgrade == nil ? drip(response, portion, pause, loop) : write(response, loop)
        }
    }

    private func write(_ response: Response, _ loop: EventLoop) {
        if let upgrade = response.upgrade { return open(upgrade, response, loop) }
        encode(response, into: &output.bytes, loop)
        phase = phaseAfterAnswer
    }

    private func encode(_ response: Response, into bytes: inout [UInt8], _ loop: EventLoop) {
        exchange.persists = exchange.persists && !loop.isStopping
        exchange.persists = loop.encoder.encode(response, for: exchange, into: &bytes)
    }

    private var phaseAfterAnswer: Phase { exchange.persists ? .reading : .finishing }

    private func drip(_ response: Response, _ portion: Int, _ pause: Duration, _ loop: EventLoop) {
        var bytes: [UInt8] = []
        encode(response, into: &bytes, loop)
        // Without any pause, timers would keep the loop busy until the last chunk.
        phase = .dripping(Drip(rest: bytes[...], portion: max(1, portion), pause: max(pause, .milliseconds(1))))
        goOn(loop)
    }

    /// Resets the connection instead of answering.
    func reset(_ loop: EventLoop) {
        transport.discardUnsent()
        loop.close(self)
    }

    /// Bytes that cannot be read as a status line.
    private static let garbage = [UInt8](0x80...0xFF)
}
