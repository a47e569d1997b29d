import Wire

/// Decodes the chunked transfer coding (RFC 9112 section 7.1).
///
/// Extensions are validated and ignored, trailers validated and dropped. Both count against one budget, or a client
/// could wrap each byte of content into kilobytes of them.
struct ChunkedDecoder {
    enum Progress {
        /// All input was used; the content is incomplete.
        case incomplete
        /// The content and its trailers are complete.
        case complete
        /// The content exceeds the limit; the rest was not read.
        case exceeded
    }

    private enum State {
        case size
        case data(remaining: Int)
        case endOfData
        case trailers
    }

    /// The largest content in bytes.
    let limit: Int
    private var budget: Int
    private var trailerLines: Int
    private var state = State.size
    /// At most 15 digits, so that any size fits into an `Int`.
    private static let sizeDigits = 15

    init(limit: Int, overheadBytes: Int, trailerLines: Int) {
        self.limit = limit
        budget = overheadBytes
        self.trailerLines = trailerLines
    }

    /// Consumes the input and appends content to `body`.
    mutating func decode(_ input: inout InputBuffer, into body: inout [UInt8]) throws(RequestRejection) -> Progress {
        while true {
            switch state {
            case .size:
                guard let size = try nextSize(&input) else { return .incomplete }
                guard size <= limit - body.count else { return .exceeded }
                state = size == 0 ? .trailers : .data(remaining: size)
            case .data(let remaining):
                let part = input.unused.prefix(remaining)
                body.append(contentsOf: part)
                state = part.count == remaining ? .endOfData : .data(remaining: remaining - part.count)
                input.use(part.count)
                if part.count < remaining { return .incomplete }
            case .endOfData:
                guard try passEndOfData(&input) else { return .incomplete }
                state = .size
            case .trailers:
                guard let line = try nextLine(&input, longest: budget, otherwise: .headTooLarge) else {
                    return .incomplete
                }
                if line.isEmpty { return .complete }
                try checkTrailer(line, input.bytes)
            }
        }
    }

    /// The next line; a line over `longest` bytes is rejected as soon as that many have arrived.
    private func nextLine(
        _ input: inout InputBuffer, longest: Int, otherwise refusal: RequestRejection
    ) throws(RequestRejection) -> Range<Int>? {
        let found = input.nextLine()
        if let place = input.bareCarriageReturn { throw place > longest ? refusal : .malformedChunk }
        switch found {
        case .incomplete:
            guard input.count <= longest + 2 else { throw refusal }
            return nil
        case .bareLineFeed(let place):
            // The position of the LF decides, so that the result does not depend on how the bytes were split.
            throw place > longest + 2 ? refusal : .malformedChunk
        case .complete(let line):
            guard line.count <= longest else { throw refusal }
            input.useLines()
            return line
        }
    }

    private mutating func nextSize(_ input: inout InputBuffer) throws(RequestRejection) -> Int? {
        // Anything that is not a chunk may never send the end of a line.
        if let first = input.firstOfLine, first.hexadecimalValue == nil { throw .malformedChunk }
        let longest = budget + Self.sizeDigits
        guard let range = try nextLine(&input, longest: longest, otherwise: .malformedChunk) else { return nil }
        let line = input.bytes[range]
        let digits = line.prefix { $0.hexadecimalValue != nil }
        let extensions = line[digits.endIndex...]
        guard !digits.isEmpty, digits.count <= Self.sizeDigits, ChunkExtensions.areValid(extensions),
            extensions.count <= budget
        else { throw .malformedChunk }
        budget -= extensions.count
        return digits.reduce(0) { $0 << 4 | ($1.hexadecimalValue ?? 0) }
    }

    private func passEndOfData(_ input: inout InputBuffer) throws(RequestRejection) -> Bool {
        let end = input.unused.prefix(2)
        guard end.elementsEqual([.carriageReturn, .lineFeed].prefix(end.count)) else { throw .malformedChunk }
        guard end.count == 2 else { return false }
        input.use(2)
        return true
    }

    private mutating func checkTrailer(_ line: Range<Int>, _ bytes: [UInt8]) throws(RequestRejection) {
        guard FieldLines.Line(parsing: line, in: bytes) != nil else { throw .malformedField }
        trailerLines -= 1
        budget -= line.count
        guard trailerLines >= 0 else { throw .headTooLarge }
    }
}

/// The grammar of chunk extensions (RFC 9112 section 7.1.1).
enum ChunkExtensions {
    /// Whether these bytes are an optional list of extensions; blanks are allowed around `;` and `=` only.
    static func areValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard take(UInt8(ascii: ";"), &rest), takeToken(&rest) else { return false }
            var value = rest
            guard take(UInt8(ascii: "="), &value) else { continue }
            guard takeToken(&value) || takeQuotedString(&value) else { return false }
            rest = value
        }
        return true
    }

    /// Consumes that byte and the blanks around it.
    private static func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        let next = rest.drop { $0.isBlank }
        guard next.first == byte else { return false }
        rest = next.dropFirst().drop { $0.isBlank }
        return true
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let tokens = ByteSet.token
        let token = rest.prefix { tokens.contains($0) }
        rest = rest[token.endIndex...]
        return !token.isEmpty
    }

    private static func takeQuotedString(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: "\"") else { return false }
        var isEscaped = false
        for place in rest.indices.dropFirst() {
            let byte = rest[place]
            guard byte.isFieldContent else { return false }
            if !isEscaped, byte == UInt8(ascii: "\"") {
                rest = rest[(place + 1)...]
                return true
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return false
    }
}
