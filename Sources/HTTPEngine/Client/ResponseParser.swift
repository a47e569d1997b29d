internal import HTTPTypes
internal import Wire

/// Parses an answer from a server's bytes: a pure value, strict about the framing of the content.
struct ResponseParser {
    private enum State {
        case statusLine
        case fieldLines(HTTPResponse.Status)
        case fixed(remaining: Int)
        case chunked(ChunkedDecoder)
        case untilEnd
    }

    private static let headBytes = 64 * 1024
    private static let headLines = 200
    /// ours: the maximum number of interim answers before the client gives up.
    private static let interimAnswers = 20

    private let isHead: Bool
    private let maximumBody: Int
    private var input = InputBuffer()
    private var state = State.statusLine
    private var lines: [FieldLines.Line] = []
    private var status = HTTPResponse.Status.ok
    private var fields = FieldLines()
    private var body: [UInt8] = []
    private var interimCount = 0

    /// A parser for the answer to one request.
    init(isHead: Bool, maximumBody: Int) {
        self.isHead = isHead
        self.maximumBody = maximumBody
    }

    /// The number of buffered bytes.
    var byteCount: Int { input.bytes.count + body.count }

    /// Adds received bytes; returns the answer once it is complete.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) throws(ClientError) -> ClientResponse? {
        input.append(bytes)
        while true {
            switch state {
            case .statusLine:
                guard let line = try nextLine() else { return nil }
                state = .fieldLines(try Self.status(input.bytes[line]))
            case .fieldLines(let status):
                guard let line = try nextLine() else { return nil }
                guard line.isEmpty else {
                    try note(line)
                    continue
                }
                try completeHead(status, end: line.lowerBound)
            case .fixed, .chunked, .untilEnd:
                return try readContent()
            }
        }
    }

    /// The answer when the server has closed the connection.
    mutating func finish() throws(ClientError) -> ClientResponse {
        // RFC 9112 section 6.3: without a length, the end of the connection ends the content; otherwise it is an error.
        guard case .untilEnd = state else { throw .connectionLost }
        return ClientResponse(status: status, fields: fields, body: body)
    }

    private mutating func nextLine() throws(ClientError) -> Range<Int>? {
        switch input.nextLine() {
        case .incomplete:
            guard input.count <= Self.headBytes else { throw .malformedAnswer }
            return nil
        case .bareLineFeed: throw .malformedAnswer
        case .complete(let line): return line
        }
    }

    /// RFC 9112 section 4: version, three digits, and a reason, which may be missing along with its blank.
    private static func status(_ line: ArraySlice<UInt8>) throws(ClientError) -> HTTPResponse.Status {
        let parts = line.split(separator: .space, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].elementsEqual("HTTP/1.1".utf8) || parts[0].elementsEqual("HTTP/1.0".utf8),
            parts[1].count == 3, let code = parts[1].decimalNumber, code >= 100
        else { throw .malformedAnswer }
        let reason = parts.count == 3 ? String(decoding: parts[2], as: UTF8.self) : ""
        return HTTPResponse.Status(code: code, reasonPhrase: reason)
    }

    private mutating func note(_ range: Range<Int>) throws(ClientError) {
        guard lines.count < Self.headLines, let line = FieldLines.Line(parsing: range, in: input.bytes) else {
            throw .malformedAnswer
        }
        lines.append(line.moved(by: input.start))
    }

    private mutating func completeHead(_ status: HTTPResponse.Status, end: Int) throws(ClientError) {
        self.status = status
        fields = FieldLines(bytes: Array(input.bytes[input.start..<end]), lines: lines)
        lines = []
        input.useLines()
        state = status.code < 200 ? .statusLine : try contentState()
        // Interim answers precede the final one (RFC 9110 section 15.2).
        if status.code < 200 { interimCount += 1 }
        guard interimCount <= Self.interimAnswers else { throw .malformedAnswer }
    }

    /// RFC 9112 section 6.3.
    private func contentState() throws(ClientError) -> State {
        if isHead || status.code == 204 || status.code == 304 { return .fixed(remaining: 0) }
        let lengths = fields.values(of: .contentLength)
        if let coding = fields[.transferEncoding] {
            guard coding.lowercased() == "chunked", lengths.isEmpty else { throw .malformedAnswer }
            return .chunked(
                ChunkedDecoder(limit: maximumBody, overheadBytes: Self.headBytes, trailerLines: Self.headLines))
        }
        guard let text = lengths.first else { return .untilEnd }
        guard lengths.count == 1, let length = Array(text.utf8).decimalNumber else { throw .malformedAnswer }
        guard length <= maximumBody else { throw .tooLarge }
        return .fixed(remaining: length)
    }

    private mutating func readContent() throws(ClientError) -> ClientResponse? {
        switch state {
        case .statusLine, .fieldLines: return nil
        case .fixed(let remaining):
            let part = take(remaining)
            state = .fixed(remaining: remaining - part)
            guard part == remaining else { return nil }
        case .untilEnd:
            _ = take(input.count)
            guard body.count <= maximumBody else { throw .tooLarge }
            return nil
        case .chunked(var decoder):
            let progress = try decode(&decoder)
            state = .chunked(decoder)
            guard progress else { return nil }
        }
        return ClientResponse(status: status, fields: fields, body: body)
    }

    /// Moves at most that many bytes to the content and returns how many.
    private mutating func take(_ count: Int) -> Int {
        let part = input.unused.prefix(count)
        body.append(contentsOf: part)
        input.use(part.count)
        return part.count
    }

    private mutating func decode(_ decoder: inout ChunkedDecoder) throws(ClientError) -> Bool {
        let progress: ChunkedDecoder.Progress
        do throws(RequestRejection) {
            progress = try decoder.decode(&input, into: &body)
        } catch {
            throw .malformedAnswer
        }
        switch progress {
        case .incomplete: return false
        case .complete: return true
        case .exceeded: throw .tooLarge
        }
    }
}
