internal import Wire

/// Assembles messages from one client's frames: a pure value that reads no socket and no clock (RFC 6455 section 5).
///
/// Feed it what arrives, in pieces of any size, and call ``next()`` until it returns `.more`. The result depends only
/// on the bytes, not on how they were split. A close frame or a failure ends the stream.
struct WebSocketFrames {
    /// The result of ``next()``.
    enum Step {
        /// All input is used or waits for more bytes.
        case more
        case message(WebSocketMessage)
        /// A ping; the pong must repeat its payload.
        case ping([UInt8])
        /// A pong, solicited or not.
        case pong([UInt8])
        /// The client's last frame.
        case close(WebSocketClosure)
        /// The bytes violate RFC 6455 or a limit.
        case failure(WebSocketClosure)
    }

    private enum State {
        case header
        case payload(WebSocketFrameHeader, WebSocketMask, remaining: Int)
        case ended
    }

    private enum Kind {
        case text
        case binary
    }

    private let maximumMessageBytes: Int
    private var input = InputBuffer()
    private var state = State.header
    /// The kind of the message in progress.
    private var kind: Kind?
    /// The payload of that message so far. Only bytes are kept, so countless empty fragments cost nothing.
    private var message: [UInt8] = []
    private var text = UTF8Check()
    /// The payload of a control frame, which may come between the fragments of a message.
    private var control: [UInt8] = []

    /// Larger buffers are freed: a WebSocket may be silent for hours.
    private static let keptBytes = 4096

    /// Frames of messages of at most that many bytes.
    init(maximumMessageBytes: Int) { self.maximumMessageBytes = maximumMessageBytes }

    /// The number of buffered bytes.
    var bufferedCount: Int { input.count }

    /// Whether the next frame is a close frame, judged by its first byte.
    var isCloseNext: Bool {
        guard case .header = state, let first = input.unused.first else { return false }
        return first & 0x0F == WebSocketOpcode.close.rawValue
    }

    /// Adds received bytes.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        if case .ended = state { return }
        input.append(bytes)
    }

    /// The next step; after any step but `.more`, further ones may follow without feeding.
    mutating func next() -> Step {
        do throws(WebSocketFailure) {
            if let step = try nextStep() { return step }
            if input.count == 0, input.bytes.capacity > Self.keptBytes { input = InputBuffer() }
            return .more
        } catch {
            end()
            return .failure(error.closure)
        }
    }

    private mutating func nextStep() throws(WebSocketFailure) -> Step? {
        while true {
            switch state {
            case .header:
                guard let header = try WebSocketFrameHeader(parsing: input.unused) else { return nil }
                input.use(header.byteCount)
                try begin(header)
            case .payload(let header, var mask, let remaining):
                let count = try read(upTo: remaining, &mask, isControl: header.opcode.isControl)
                guard count == remaining else {
                    state = .payload(header, mask, remaining: remaining - count)
                    return nil
                }
                state = .header
                if let step = try complete(header) { return step }
            case .ended:
                return nil
            }
        }
    }

    private mutating func end() {
        state = .ended
        input = InputBuffer()
        message = []
        control = []
    }
}

// MARK: - Frames

extension WebSocketFrames {
    /// Checks whether the frame is allowed here, before its payload is read.
    private mutating func begin(_ header: WebSocketFrameHeader) throws(WebSocketFailure) {
        if !header.opcode.isControl { try beginData(header) }
        state = .payload(header, header.mask, remaining: header.length)
    }

    private mutating func beginData(_ header: WebSocketFrameHeader) throws(WebSocketFailure) {
        if header.opcode == .continuation {
            guard kind != nil else { throw .strayContinuation }
        } else {
            guard kind == nil else { throw .interruptedMessage }
            kind = header.opcode == .text ? .text : .binary
        }
        guard header.length <= maximumMessageBytes - message.count else { throw .messageTooBig }
        // A client that announces much and sends little must not cost much.
        if message.isEmpty { message.reserveCapacity(min(header.length, 64 * 1024)) }
    }

    /// Moves the received payload to its buffer; returns the number of bytes.
    private mutating func read(
        upTo limit: Int, _ mask: inout WebSocketMask, isControl: Bool
    ) throws(WebSocketFailure) -> Int {
        let part = input.unused.prefix(limit)
        if isControl {
            control.append(part, unmaskedBy: &mask)
        } else {
            let start = message.count
            message.append(part, unmaskedBy: &mask)
            // RFC 6455 section 8.1; at once, so that the rest of an invalid text need not arrive.
            guard kind != .text || accepts(from: start) else { throw .invalidText }
        }
        input.use(part.count)
        return part.count
    }

    private mutating func accepts(from start: Int) -> Bool {
        message.withUnsafeBytes { text.accepts(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    private mutating func complete(_ header: WebSocketFrameHeader) throws(WebSocketFailure) -> Step? {
        switch header.opcode {
        case .continuation, .text, .binary:
            return header.isFinal ? .message(try completeMessage()) : nil
        case .ping:
            return .ping(takeControl())
        case .pong:
            return .pong(takeControl())
        case .close:
            let closure = try WebSocketClosure(payload: control)
            end()
            return .close(closure)
        }
    }

    private mutating func completeMessage() throws(WebSocketFailure) -> WebSocketMessage {
        defer {
            message = []
            kind = nil
        }
        guard kind == .text else { return .binary(message) }
        guard text.isComplete else { throw .invalidText }
        return .text(String(decoding: message, as: UTF8.self))
    }

    private mutating func takeControl() -> [UInt8] {
        defer { control = [] }
        return control
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ masked: ArraySlice<UInt8>, unmaskedBy mask: inout WebSocketMask) {
        let start = count
        append(contentsOf: masked)
        withUnsafeMutableBytes { mask.remove(from: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}
