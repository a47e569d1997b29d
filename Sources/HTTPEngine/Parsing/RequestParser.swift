internal import HTTPTypes
internal import Wire

/// Parses requests from the bytes of one connection: a pure value that reads no socket and no clock.
///
/// Feed it what arrives, in pieces of any size, and call ``next()`` until it returns `.more`. The result depends only
/// on the bytes, not on how they were split. A refusal or content over its limit ends the stream.
struct RequestParser {
    /// The result of ``next()``.
    enum Step {
        /// All input is used or waits for more bytes.
        case more
        /// A head is complete and valid; ``head`` is it, and ``acceptContent(upTo:)`` must be called next.
        case head
        /// A request is complete; ``persists`` says whether another may follow.
        case request(Request)
        case refusal(RequestRejection)
    }

    private enum State {
        case requestLine
        case fieldLines
        case decision(MessageFields.Framing)
        case fixed(remaining: Int)
        case chunked(ChunkedDecoder)
        case exceeded
        case ended
    }

    let connection: Request.Connection
    /// Whether the connection persists after the last request.
    private(set) var persists = true
    /// Whether the last request asks with `Connection: keep-alive` to persist.
    private(set) var asksToPersist = false
    /// Whether the last request is `OPTIONS *`, which concerns the server and not a path (RFC 9110 section 9.3.7).
    private(set) var isServerWide = false
    /// Whether the client waits for `100 Continue` before it sends the content.
    private(set) var expectsContinue = false

    private let limits: Limits
    private var input = InputBuffer()
    private var state = State.requestLine
    private var lines: [FieldLines.Line] = []
    private var message = MessageFields()
    private var requestLine = RequestLine.blank
    private var fields = FieldLines(bytes: [], lines: [])
    private var authority: String?
    private var content: [UInt8] = []
    private var passedEmptyLine = false

    init(limits: Limits, connection: Request.Connection = .inProcess) {
        self.limits = limits
        self.connection = connection
    }

    /// The number of buffered bytes.
    var bufferedCount: Int { input.count }

    /// Whether no byte of a next request has arrived.
    var isIdle: Bool {
        guard case .requestLine = state else { return false }
        return input.count == 0
    }

    /// Whether a head is complete and its content is not.
    var isInContent: Bool {
        switch state {
        case .fixed, .chunked: true
        case .requestLine, .fieldLines, .decision, .exceeded, .ended: false
        }
    }

    var contentBytes: Int { content.count }

    /// The request without its content; blank once the request has been returned.
    var head: Request {
        Request(
            method: requestLine.method, target: requestLine.target, authority: authority, fields: fields,
            version: requestLine.version, connection: connection)
    }

    /// The announced length of the content while ``acceptContent(upTo:)`` is due; `nil` if unknown.
    var announcedLength: Int? {
        if case .decision(.length(let length)) = state { length } else { nil }
    }

    /// Adds received bytes.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) {
        if case .ended = state { return }
        input.append(bytes)
    }

    /// The next step; after any step but `.more`, further ones may follow without feeding.
    mutating func next() -> Step {
        do throws(RequestRejection) {
            return try nextStep()
        } catch {
            state = .ended
            return .refusal(error)
        }
    }

    /// Drops what has arrived of a content, and all that follows.
    mutating func giveUp() { (content, state) = ([], .ended) }

    /// Takes all bytes after the requests read so far, to be read as something else.
    mutating func takeUnused() -> [UInt8] {
        defer { input.use(input.count) }
        return Array(input.unused)
    }

    /// Sets the content limit of the request whose head was read.
    mutating func acceptContent(upTo limit: Int) {
        guard case .decision(let framing) = state else { return }
        switch framing {
        case .length(let length) where length > limit:
            state = .exceeded
        case .length(let length):
            // A client that announces much and sends little must not cost much.
            content.reserveCapacity(min(length, 64 * 1024))
            state = .fixed(remaining: length)
        case .chunked:
            state = .chunked(
                ChunkedDecoder(limit: limit, overheadBytes: limits.headerBytes, trailerLines: limits.headerLines))
        }
    }

    private mutating func nextStep() throws(RequestRejection) -> Step {
        switch state {
        case .requestLine:
            guard try readRequestLine() else { return .more }
            return try nextStep()
        case .fieldLines:
            return try readFieldLines() ? .head : .more
        case .decision:
            return .head
        case .fixed(let remaining):
            return readFixed(remaining)
        case .chunked(var decoder):
            let progress = try decoder.decode(&input, into: &content)
            state = .chunked(decoder)
            return step(after: progress)
        case .exceeded:
            return exceed()
        case .ended:
            return .more
        }
    }
}

// MARK: - Head

extension RequestParser {
    private mutating func readRequestLine() throws(RequestRejection) -> Bool {
        // Anything that is not HTTP, such as a TLS handshake, may never send the end of a line.
        if let first = input.firstOfLine, first != .carriageReturn, first != .lineFeed,
            !ByteSet.token.contains(first)
        {
            // RFC 8446 section 5.1: the first byte of a handshake, which is not a character of HTTP.
            throw first == 0x16 ? .unexpectedTLS : .malformedRequestLine
        }
        guard let line = try nextLine() else { return false }
        if line.isEmpty {
            // RFC 9112 section 2.2: old clients send an empty line after the content; one is ignored.
            guard !passedEmptyLine else { throw .malformedRequestLine }
            passedEmptyLine = true
            input.useLines()
            return try readRequestLine()
        }
        requestLine = try RequestLine(input.bytes[line], isSecure: connection.isSecure)
        isServerWide = requestLine.target.utf8.first == UInt8(ascii: "*")
        lines.reserveCapacity(12)
        state = .fieldLines
        return true
    }

    private mutating func readFieldLines() throws(RequestRejection) -> Bool {
        while let range = try nextLine() {
            if range.isEmpty {
                try completeHead(end: range.lowerBound)
                return true
            }
            guard lines.count < limits.headerLines else { throw .headTooLarge }
            guard let line = FieldLines.Line(parsing: range, in: input.bytes) else { throw .malformedField }
            try message.note(line, of: input.bytes)
            lines.append(line.moved(by: input.start))
        }
        return false
    }

    /// The next line of the head; an oversized head is rejected at the first byte beyond the limit.
    private mutating func nextLine() throws(RequestRejection) -> Range<Int>? {
        let limit = limits.headerBytes
        let found = input.nextLine()
        if let place = input.bareCarriageReturn {
            // RFC 9112 section 2.2. Not left to the end of the line: a client that ends its lines this way never sends
            // one.
            guard place + 2 <= limit else { throw tooLong }
            throw .bareCarriageReturn
        }
        switch found {
        case .incomplete:
            guard input.count <= limit else { throw tooLong }
            return nil
        case .bareLineFeed(let place):
            guard place < limit else { throw tooLong }
            throw .bareLineFeed
        case .complete(let line):
            guard input.line - input.start <= limit else { throw tooLong }
            return line
        }
    }

    /// The refusal of an oversized head; RFC 9112 section 3 distinguishes a long method from a long target.
    private var tooLong: RequestRejection {
        guard case .requestLine = state else { return .headTooLarge }
        let tokens = ByteSet.token
        let rest = input.unused.prefix(limits.headerBytes).drop { tokens.contains($0) }
        guard let end = rest.first else { return .unknownMethod }
        return end == .space ? .targetTooLong : .malformedRequestLine
    }

    private mutating func completeHead(end: Int) throws(RequestRejection) {
        let version = requestLine.version
        let framing = try message.framing(in: version)
        guard message.host != nil || version == .http1_0 else { throw .invalidHost }
        fields = FieldLines(bytes: Array(input.bytes[input.start..<end]), lines: lines)
        authority = requestLine.authority ?? message.host
        persists = message.persists(in: version)
        asksToPersist = message.saysKeepAlive
        // RFC 9110 section 10.1.1: HTTP/1.0 clients do not know the interim answer, and without content there is
        // nothing to wait for; an intermediary that does not expect one would take it for the answer.
        expectsContinue = message.expectsContinue && version == .http1_1 && framing != .length(0)
        input.useLines()
        lines = []
        message = MessageFields()
        passedEmptyLine = false
        state = .decision(framing)
    }
}

// MARK: - Content

extension RequestParser {
    private mutating func readFixed(_ remaining: Int) -> Step {
        guard remaining > 0 else { return complete() }
        let part = input.unused.prefix(remaining)
        content.append(contentsOf: part)
        input.use(part.count)
        guard part.count == remaining else {
            state = .fixed(remaining: remaining - part.count)
            return .more
        }
        return complete()
    }

    private mutating func step(after progress: ChunkedDecoder.Progress) -> Step {
        switch progress {
        case .incomplete: .more
        case .complete: complete()
        case .exceeded: exceed()
        }
    }

    private mutating func complete() -> Step {
        state = .requestLine
        return .request(takeRequest(exceedsLimit: false))
    }

    /// Moves the request out: a copy would cost, and an idle connection keeps nothing of its last request.
    private mutating func takeRequest(exceedsLimit: Bool) -> Request {
        let line = exchange(&requestLine, with: .blank)
        return Request(
            method: line.method, target: line.target, authority: exchange(&authority, with: nil),
            fields: exchange(&fields, with: FieldLines(bytes: [], lines: [])), body: exchange(&content, with: []),
            bodyExceedsLimit: exceedsLimit, version: line.version, connection: connection)
    }

    private mutating func exceed() -> Step {
        content = []
        persists = false
        state = .ended
        return .request(takeRequest(exceedsLimit: true))
    }
}

/// Why the engine rejects a request without its handler; the connection closes after each.
enum RequestRejection: Error, Hashable, CaseIterable {
    case malformedRequestLine, malformedTarget, insecureTarget, targetTooLong, unknownMethod, unsupportedVersion
    case bareLineFeed, bareCarriageReturn, malformedField, headTooLarge, invalidHost, invalidContentLength
    case contentTooLarge, invalidTransferEncoding, unknownTransferCoding, unknownExpectation, malformedChunk
    case incompleteRequest, timedOut, notTLS, unexpectedTLS, overfull

    var status: HTTPResponse.Status {
        switch self {
        case .malformedRequestLine, .malformedTarget, .insecureTarget, .bareLineFeed, .bareCarriageReturn,
            .malformedField, .invalidHost, .invalidContentLength, .invalidTransferEncoding, .malformedChunk,
            .incompleteRequest, .notTLS, .unexpectedTLS:
            .badRequest
        case .timedOut: .requestTimeout
        case .contentTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .unknownExpectation: .expectationFailed
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .unknownMethod, .unknownTransferCoding: .notImplemented
        case .overfull: .serviceUnavailable
        case .unsupportedVersion: .httpVersionNotSupported
        }
    }

    /// The reason in words, with the section that defines it.
    var reason: String {
        switch self {
        case .malformedRequestLine: "the request line is not METHOD TARGET HTTP/1.1 (RFC 9112 section 3)"
        case .malformedTarget: "the request target is not valid (RFC 9112 section 3.2)"
        case .targetTooLong: "the request line is too long (RFC 9112 section 3)"
        case .unknownMethod: "the method is unknown (RFC 9110 section 9.1)"
        case .unsupportedVersion: "the version is not HTTP/1 (RFC 9110 section 15.6.6)"
        case .insecureTarget: "an https URL arrived at a plain-text port (RFC 9110 section 7.4)"
        case .bareCarriageReturn: "a CR without LF (RFC 9112 section 2.2)"
        case .bareLineFeed: "a line ends in LF without CR (RFC 9112 section 2.2)"
        case .malformedField:
            "a field line is not a name without blanks, a colon and a value without controls (RFC 9112 section 5)"
        case .headTooLarge: "the head has too many bytes or lines (RFC 6585 section 5)"
        case .invalidHost: "Host is missing, occurs twice or is not valid (RFC 9112 section 3.2)"
        case .invalidContentLength: "Content-Length is not one number (RFC 9112 section 6.3)"
        case .contentTooLarge: "Content-Length is beyond all bounds (RFC 9110 section 15.5.14)"
        case .invalidTransferEncoding:
            "Transfer-Encoding is not chunked, or is combined with Content-Length or in HTTP/1.0 (RFC 9112 section 6.1)"
        case .unknownTransferCoding: "the transfer coding is not known (RFC 9112 section 6.1)"
        case .unknownExpectation: "Expect is not 100-continue (RFC 9110 section 10.1.1)"
        case .malformedChunk: "the chunked coding is broken (RFC 9112 section 7.1)"
        case .incompleteRequest: "the request ended before it was complete (RFC 9112 section 8)"
        case .timedOut: "the request did not arrive in time (RFC 9110 section 15.5.9)"
        case .unexpectedTLS: "a TLS handshake arrived at the http port"
        case .notTLS: "a plain-text request arrived at the https port"
        case .overfull:
            "this is long, and too much is already on its way to and from all clients (RFC 9110 section 15.6.4)"
        }
    }
}
