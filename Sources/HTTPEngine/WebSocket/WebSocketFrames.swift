import Wire

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

/// The header of a client's frame, checked as far as possible without context (RFC 6455 section 5.2).
struct WebSocketFrameHeader {
    /// Whether this is the last frame of its message.
    let isFinal: Bool
    let opcode: WebSocketOpcode
    /// The size of the payload in bytes.
    let length: Int
    let mask: WebSocketMask
    let byteCount: Int

    /// The largest payload of a control frame in bytes (RFC 6455 section 5.5).
    static let controlBytes = 125

    /// Parses the header at the start of these bytes; `nil` when it is incomplete but valid so far.
    init?(parsing bytes: ArraySlice<UInt8>) throws(WebSocketFailure) {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[bytes.startIndex]
        let second = bytes[bytes.startIndex + 1]
        guard first & 0x70 == 0 else { throw .reservedBit }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .unknownOpcode }
        guard second & 0x80 != 0 else { throw .unmasked }
        isFinal = first & 0x80 != 0
        self.opcode = opcode
        if opcode.isControl {
            guard isFinal else { throw .fragmentedControl }
            guard second & 0x7F <= Self.controlBytes else { throw .longControl }
        }
        guard let (length, keyOffset) = try Self.length(second & 0x7F, bytes) else { return nil }
        byteCount = keyOffset + WebSocketMask.keyBytes
        guard bytes.count >= byteCount else { return nil }
        self.length = length
        mask = WebSocketMask(key: bytes.dropFirst(keyOffset))
    }

    /// The length of the payload, and the offset after the length field.
    private static func length(
        _ short: UInt8, _ bytes: ArraySlice<UInt8>
    ) throws(WebSocketFailure) -> (length: Int, end: Int)? {
        let byteCount =
            switch short {
            case 126: 2
            case 127: 8
            default: 0
            }
        guard byteCount > 0 else { return (Int(short), 2) }
        guard bytes.count >= 2 + byteCount else { return nil }
        let number = bytes.dropFirst(2).prefix(byteCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let smallest: UInt64 = byteCount == 2 ? 126 : 65_536
        guard number >= smallest, let length = Int(exactly: number) else { throw .malformedLength }
        return (length, 2 + byteCount)
    }
}

/// The type of a frame (RFC 6455 section 5.2); the other ten values are reserved.
enum WebSocketOpcode: UInt8 {
    /// A further fragment of a message.
    case continuation = 0x0
    /// A text, or its first fragment.
    case text = 0x1
    /// Bytes, or their first fragment.
    case binary = 0x2
    /// The last frame of its sender.
    case close = 0x8
    /// A request for a sign of life.
    case ping = 0x9
    /// The answer to a ping.
    case pong = 0xA

    /// Whether such frames concern the connection and may come between the fragments of a message.
    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The masking key of one payload (RFC 6455 section 5.3).
struct WebSocketMask {
    static let keyBytes = 4

    /// The key, rotated so that its lowest byte applies to the next byte of the payload.
    private var key: UInt32

    /// The mask whose key starts these bytes, of which there are at least four.
    init(key bytes: ArraySlice<UInt8>) {
        key = bytes.prefix(Self.keyBytes).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Unmasks the next bytes of the payload.
    mutating func remove(from bytes: UnsafeMutableRawBufferPointer) {
        // Eight bytes a step, which is two keys, so the key is only rotated for the rest.
        let pattern = (UInt64(key) | UInt64(key) << 32).littleEndian
        let wholeSteps = bytes.count & ~7
        for offset in stride(from: 0, to: wholeSteps, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            bytes.storeBytes(of: word ^ pattern, toByteOffset: offset, as: UInt64.self)
        }
        for offset in wholeSteps..<bytes.count {
            bytes[offset] ^= UInt8(truncatingIfNeeded: key)
            key = key >> 8 | key << 24
        }
    }
}

/// Validates UTF-8 piece by piece, and rejects at the first wrong byte (RFC 3629 section 4).
struct UTF8Check {
    /// The bytes missing from the last code point.
    private var missing = 0
    /// The allowed values of the next byte of that code point.
    private var next = Self.continuation

    private static let continuation: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the text may end here.
    var isComplete: Bool { missing == 0 }

    /// Whether the text stays valid with these bytes; after `false` the value is unusable.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if missing == 0 {
                position = Self.endOfASCII(in: bytes, from: position)
                guard position < bytes.count else { break }
                guard begin(bytes[position]) else { return false }
            } else {
                guard next.contains(bytes[position]) else { return false }
                missing -= 1
                next = Self.continuation
            }
            position += 1
        }
        return true
    }

    /// Eight bytes a step, since most texts are mostly ASCII.
    private static func endOfASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while bytes.count - position >= 8,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }

    /// Starts a multibyte code point.
    ///
    /// The second byte is restricted to exclude overlong forms, surrogates, and code points beyond U+10FFFF.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF: missing = 2
        case 0xF0...0xF4: missing = 3
        default: return false
        }
        switch byte {
        case 0xE0: next = 0xA0...0xBF
        case 0xED: next = 0x80...0x9F
        case 0xF0: next = 0x90...0xBF
        case 0xF4: next = 0x80...0x8F
        default: break
        }
        return true
    }
}
