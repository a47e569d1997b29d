import Testing
import Wire

@testable import HTTPEngine

/// The outcome of parsing some bytes, in comparable form.
enum ParserOutcome: Hashable {
    case request(Parsed)
    case refusal(RequestRejection)

    /// A request with everything visible to a handler.
    struct Parsed: Hashable {
        var method: String
        var target: String
        var authority: String?
        var fields: [String]
        var body: [UInt8]
        var exceeds: Bool
        var version: String
        var persists: Bool
        var expectsContinue: Bool
    }

    /// Feeds the bytes in portions of these sizes, repeating the last size, and collects the outcomes.
    static func parse(
        _ bytes: [UInt8], portions: [Int] = [.max], limits: Limits = Limits(), bodyLimit: Int = 1024,
        connection: Request.Connection = .inProcess
    ) -> [ParserOutcome] {
        var parser = RequestParser(limits: limits, connection: connection)
        var outcomes: [ParserOutcome] = []
        var start = 0
        var sizes = portions.makeIterator()
        var size = portions.first ?? .max
        repeat {
            size = sizes.next() ?? size
            let end = start + min(size, bytes.count - start)
            bytes[start..<end].withUnsafeBytes { parser.feed($0) }
            start = end
            parser.collect(&outcomes, bodyLimit)
        } while start < bytes.count
        return outcomes
    }

    /// The outcomes of a text, which must be the same all at once and byte by byte.
    static func parse(
        _ text: String, limits: Limits = Limits(), bodyLimit: Int = 1024,
        at location: SourceLocation = #_sourceLocation
    ) -> [ParserOutcome] {
        let whole = parse(Array(text.utf8), limits: limits, bodyLimit: bodyLimit)
        let single = parse(Array(text.utf8), portions: [1], limits: limits, bodyLimit: bodyLimit)
        #expect(whole == single, sourceLocation: location)
        return whole
    }

    /// The outcomes of a request with this first line.
    static func of(line: String, at location: SourceLocation = #_sourceLocation) -> [ParserOutcome] {
        parse("\(line)\r\nHost: a\r\n\r\n", at: location)
    }

    /// The outcomes of a request with exactly these field lines.
    static func of(
        fields: String, version: String = "1.1", content: String = "", at location: SourceLocation = #_sourceLocation
    ) -> [ParserOutcome] {
        parse("PUT / HTTP/\(version)\r\n\(fields)\r\n\r\n\(content)", at: location)
    }

    /// The outcomes of a request with this chunked content.
    static func of(chunks: String, at location: SourceLocation = #_sourceLocation) -> [ParserOutcome] {
        of(fields: "Host: a\r\nTransfer-Encoding: chunked", content: chunks, at: location)
    }

    /// The requests among the outcomes of a text.
    static func requests(
        _ text: String, bodyLimit: Int = 1024, at location: SourceLocation = #_sourceLocation
    ) -> [Parsed] {
        parse(text, bodyLimit: bodyLimit, at: location).compactMap {
            if case .request(let parsed) = $0 { parsed } else { nil }
        }
    }
}

extension RequestParser {
    fileprivate mutating func collect(_ outcomes: inout [ParserOutcome], _ bodyLimit: Int) {
        while true {
            switch next() {
            case .more: return
            case .head: acceptContent(upTo: bodyLimit)
            case .refusal(let refusal): outcomes.append(.refusal(refusal))
            case .request(let request):
                outcomes.append(.request(.init(request, persists: persists, expectsContinue: expectsContinue)))
            }
        }
    }
}

extension ParserOutcome.Parsed {
    fileprivate init(_ request: Request, persists: Bool, expectsContinue: Bool) {
        self.init(
            method: request.method.rawValue, target: request.target, authority: request.authority,
            fields: request.fields.map { "\($0.name): \($0.value)" }, body: request.body,
            exceeds: request.bodyExceedsLimit, version: request.version.rawValue, persists: persists,
            expectsContinue: expectsContinue)
    }
}
