internal import Wire

/// Makes messages of the frames of one client: a pure value that reads no socket and no clock. RFC 6455 section 5.
///
/// Feed it what arrives, in portions of any size, and call ``next()`` until it says `.more`. What comes out depends on
/// the bytes alone and never on the portions. After a close frame or a failure nothing more comes.
struct WebSocketFrames {
    /// What ``next()`` found.
    enum Step {
        /// Everything fed so far is used or waits for the bytes behind it.
        case more
        /// A message is complete.
        case message(WebSocketMessage)
        /// A ping with its payload, which the pong must repeat.
        case ping([UInt8])
        /// A pong with its payload, whether or not a ping asked for it.
        case pong([UInt8])
        /// The client's last frame.
        case close(WebSocketClosure)
        /// The bytes break RFC 6455 or a limit.
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
    /// What the message is that has begun and not ended.
    private var kind: Kind?
    /// The payloads of that message. Only bytes are kept, so that a message in countless empty fragments costs nothing.
    private var message: [UInt8] = []
    private var text = UTF8Check()
    /// The payload of a control frame, which may stand between the fragments of a message.
    private var control: [UInt8] = []

    /// A buffer above this size is given back: a WebSocket may be silent for hours.
    private static let keptBytes = 4096

    /// Frames of messages that have at most that many bytes.
    init(maximumMessageBytes: Int) { self.maximumMessageBytes = maximumMessageBytes }

    /// How many bytes wait to be used.
    var bufferedCount: Int { input.count }

    /// Whether a close frame comes next, as far as its first byte tells.
    var isCloseNext: Bool {
        guard case .header = state, let first = input.unused.first else { return false }
        return first & 0x0F == WebSocketOpcode.close.rawValue
    }

    /// Adds received bytes.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        if case .ended = state { return }
        input.append(bytes)
    }

    /// The next step; a step other than `.more` may be followed by further ones without feeding.
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
    /// Checks whether such a frame may stand here, before any of its payload is looked at.
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

    /// Moves what has arrived of the payload to where it belongs; the result says how many bytes that were.
    private mutating func read(
        upTo limit: Int, _ mask: inout WebSocketMask, isControl: Bool
    ) throws(WebSocketFailure) -> Int {
        let part = input.unused.prefix(limit)
        if isControl {
            control.append(part, unmaskedBy: &mask)
        } else {
            let start = message.count
            message.append(part, unmaskedBy: &mask)
            // RFC 6455 section 8.1; at once, so that nobody sends the rest of a text that is wrong already.
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
    /// Adds masked bytes without their mask.
    fileprivate mutating func append(_ masked: ArraySlice<UInt8>, unmaskedBy mask: inout WebSocketMask) {
        let start = count
        append(contentsOf: masked)
        withUnsafeMutableBytes { mask.remove(from: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}
