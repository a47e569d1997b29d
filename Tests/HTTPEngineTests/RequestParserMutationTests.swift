import Expectations
import Mutations
import Testing
import Wire

@testable import HTTPEngine

/// Feeds the parser randomly damaged requests, the same ones in every run.
@Suite struct RequestParserMutationTests {
    @Test(arguments: 0..<8) func `Damaged requests come out complete or refused, whatever the portions`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var tally: [Bool: Int] = [:]
        for number in 0..<max(1, Mutation.inputs / 8) {
            let input = RequestMutation.input(&random)
            let limits = RequestMutation.limits(&random)
            let whole = ParserOutcome.parse(input, limits: limits, bodyLimit: 64)
            let single = ParserOutcome.parse(input, portions: [1], limits: limits, bodyLimit: 64)
            let portions = (0..<64).map { _ in Int.random(in: 1...40, using: &random) }
            let random = ParserOutcome.parse(input, portions: portions, limits: limits, bodyLimit: 64)
            let context = "seed \(seed), input \(number): \(String(reflecting: String(decoding: input, as: UTF8.self)))"
            guard whole == single, whole == random, isSound(whole) else {
                Issue.record("\(context): \(whole) / \(single) / \(random)")
                return
            }
            for outcome in whole { tally[outcome.isRefusal, default: 0] += 1 }
        }
        // If all or none of the inputs were refused, this would test nothing.
        expect(tally[true, default: 0], above: Mutation.inputs / 80)
        expect(tally[false, default: 0], above: Mutation.inputs / 80)
    }

    /// Whether no outcome before the last is a refusal, and handlers may see every request.
    private func isSound(_ outcomes: [ParserOutcome]) -> Bool {
        outcomes.dropLast().allSatisfy { !$0.isRefusal } && outcomes.allSatisfy(\.isAllowed)
    }
}

extension ParserOutcome {
    fileprivate var isRefusal: Bool { if case .refusal = self { true } else { false } }

    /// Restates the guarantees that handlers rely on.
    fileprivate var isAllowed: Bool {
        guard case .request(let request) = self else { return true }
        let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
        let target = request.target.utf8
        return methods.contains(request.method)
            && (request.target.hasPrefix("/") || (request.target == "*" && request.method == "OPTIONS"))
            && target.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
            && (request.authority?.isEmpty == false || request.version == "HTTP/1.0")
            && request.body.count <= 64 && (!request.exceeds || (request.body.isEmpty && !request.persists))
            && request.fields.allSatisfy { field in field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 } }
            && request.fields.count { $0.lowercased().hasPrefix("content-length:") } <= 1
            && request.fields.count { $0.lowercased().hasPrefix("host:") } <= 1
    }
}

/// Valid requests and ways to damage them.
private enum RequestMutation {
    private static let seeds = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a/b?c=d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "POST /p HTTP/1.1\r\nHost: a.test:80\r\nContent-Length: 5\r\n\r\nhello",
        "PUT /c HTTP/1.1\r\nHost: [::1]:8\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a=\"b\"\r\nabc\r\n0\r\nT: v\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "PATCH http://b:9/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 70\r\n\r\n",
        "DELETE /%41 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nX-Y:\tz\r\nAuthorization: Bearer e30.e30.\r\n\r\n",
    ]
    private static let pieces = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ";", ",", "\"", "%00", "#", "*", "0", "f", "-", "+", "\u{7F}", "ä",
        "Host: a\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "HTTP/1.0", "HTTP/1.1", "HTTP/2.0",
        "GET / HTTP/1.1\r\n", "0\r\n\r\n", "1\r\n", "Connection: close\r\n", "99999999999999999999", "http://",
        "ffffffffffffffff", " \r\n",
        "X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
    ]

    /// One to three consecutive requests with up to six damages.
    static func input(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            bytes += Array((seeds.randomElement(using: &random) ?? "").utf8)
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) { damage(&bytes, &random) }
        return bytes
    }

    /// Limits that some of the inputs exceed.
    static func limits(_ random: inout SeededGenerator) -> Limits {
        var limits = Limits()
        limits.headerBytes = Bool.random(using: &random) ? 1000 : Int.random(in: 20...120, using: &random)
        limits.headerLines = Int.random(in: 1...8, using: &random)
        return limits
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let start = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: bytes[start..<end], at: start)
        case 2: bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: start)
        case 3: bytes.replaceSubrange(start..<end, with: (pieces.randomElement(using: &random) ?? "").utf8)
        default: if start < bytes.count { bytes[start] = UInt8.random(in: 0...255, using: &random) }
        }
    }
}

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
        expect(whole, is: single, sourceLocation: location)
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

/// A rule of requests, and requests that break it.
struct BrokenRule: CustomTestStringConvertible {
    let testDescription: String
    private let refusal: RequestRejection
    private let requests: [String]

    /// The rules of a table by how a request is refused; each text that breaks one stands for `%` in the template.
    static func all(
        in template: String, _ rules: KeyValuePairs<RequestRejection, KeyValuePairs<String, [String]>>
    ) -> [BrokenRule] {
        rules.flatMap { refusal, rules in
            rules.map { rule, texts in
                BrokenRule(
                    testDescription: rule, refusal: refusal, requests: texts.map { template.replacing("%", with: $0) })
            }
        }
    }

    /// Expects that each request is refused, all at once and byte by byte, and that nothing comes behind the refusal.
    func expectRefusals(at location: SourceLocation = #_sourceLocation) {
        for request in requests {
            let outcomes = ParserOutcome.parse(request, at: location)
            expect(outcomes, is: [.refusal(refusal)], String(reflecting: request), sourceLocation: location)
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

/// Attempts to smuggle a request inside another, under their names in the literature. RFC 9112 section 11.2.
@Suite struct FramingSmugglingTests {
    /// An attempt: its name, the field lines after `Host`, the bytes after the head.
    struct Attempt: CustomTestStringConvertible {
        let name: String
        let fields: String
        let rest: String
        var testDescription: String { name }

        init(_ name: String, _ fields: String, _ rest: String = FramingSmugglingTests.hidden) {
            self.name = name
            self.fields = fields
            self.rest = rest
        }
    }

    static let hidden = "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"

    private static let refused = [
        Attempt("CL.TE", "Content-Length: 38\r\nTransfer-Encoding: chunked"),
        Attempt("TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 3"),
        Attempt("TE.TE by a blank before the colon", "Transfer-Encoding : chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by a tabulator before the colon", "Transfer-Encoding\t: chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by a vertical tabulator", "Transfer-Encoding: \u{0B}chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by a folded line", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by a folded line above", "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by CR in the name", "X: y\rTransfer-Encoding: chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by LF in front", "X: y\nTransfer-Encoding: chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by a NUL in the name", "Transfer-\0Encoding: chunked\r\nContent-Length: 38"),
        Attempt("TE.TE by two lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x"),
        Attempt("TE.TE by a prefix", "Transfer-Encoding: xchunked\r\nContent-Length: 38"),
        Attempt("TE.TE by a list", "Transfer-Encoding: chunked, identity"),
        Attempt("TE.TE by quotes", "Transfer-Encoding: \"chunked\""),
        Attempt("CL.CL by two lines", "Content-Length: 0\r\nContent-Length: 38"),
        Attempt("CL.CL by a list", "Content-Length: 0, 43"), Attempt("CL.CL by a sign", "Content-Length: +43"),
        Attempt("CL.CL by a blank", "Content-Length: 4 3"),
        Attempt("CL.CL by a blank before the colon", "Content-Length : 43"),
        Attempt("0.CL by a folded line", "Content-Length:\r\n 43"),
        Attempt("0.CL by a blank in front", " Content-Length: 38"),
        Attempt("TERM.EXT, LF ends an extension", "Transfer-Encoding: chunked", "1;\nx\r\n" + hidden),
        Attempt("EXT.TERM, CR in an extension", "Transfer-Encoding: chunked", "1;\rx\r\n" + hidden),
        Attempt("TERM.SPILL, LF ends the data", "Transfer-Encoding: chunked", "1\r\nx\n" + hidden),
        Attempt("SPILL.TERM, data longer than its size", "Transfer-Encoding: chunked", "1\r\nxy\r\n" + hidden),
        Attempt("ONE.TWO, one byte for the end of data", "Transfer-Encoding: chunked", "1\r\nxZ" + hidden),
        Attempt("a size that overflows", "Transfer-Encoding: chunked", "100000000000000000\r\n\r\n" + hidden),
        Attempt("a size with a sign", "Transfer-Encoding: chunked", "-0\r\n\r\n" + hidden),
        Attempt("a size with a prefix", "Transfer-Encoding: chunked", "0x0\r\n\r\n" + hidden),
        Attempt("a size with a blank", "Transfer-Encoding: chunked", "0 0\r\n\r\n" + hidden),
        Attempt("trailers that begin with a blank", "Transfer-Encoding: chunked", "0\r\n x: y\r\n\r\n" + hidden),
        Attempt("trailers that are a request", "Transfer-Encoding: chunked", "0\r\nGET /hidden HTTP/1.1\r\n\r\n"),
        Attempt("an expectation in disguise", "Expect: y 100-continue\r\nContent-Length: 38"),
    ]

    @Test(arguments: refused)
    func `Section 11-2: an attempt that two parties can read differently is refused whole`(attempt: Attempt) {
        let outcomes = ParserOutcome.of(fields: "Host: a\r\n" + attempt.fields, content: attempt.rest)
        guard outcomes.count == 1, case .refusal(let refusal) = outcomes.first else {
            Issue.record("\(attempt.name): \(outcomes)")
            return
        }
        #expect([400, 417].contains(refusal.status.code))
    }

    private static let swallowed = [
        Attempt("CL.0", "Content-Length: 38"),
        Attempt("CL.0 with a nomination", "Connection: Content-Length\r\nContent-Length: 38"),
        Attempt("CL.0 with a switch of protocols", "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 38"),
        Attempt("CL.0 with an expectation", "Expect: 100-continue\r\nContent-Length: 38"),
        Attempt("0.CL with a length in front of the name", "X-Content-Length: 0\r\nContent-Length: 38"),
        Attempt("TE.0", "Transfer-Encoding: chunked", "26\r\n\(hidden)\r\n0\r\n\r\n"),
        Attempt(
            "TE.0 with a false name", "Transfer_Encoding: x\r\nTransfer-Encoding: chunked",
            "26\r\n\(hidden)\r\n0\r\n\r\n"),
        Attempt(
            "trailers with a length", "Transfer-Encoding: chunked", "26\r\n\(hidden)\r\n0\r\nContent-Length: 38\r\n\r\n"
        ),
    ]

    @Test(arguments: swallowed, ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `Sections 6 and 11-2: a request in a content stays content, whatever the method is`(
        attempt: Attempt, method: String
    ) {
        #expect(Self.hidden.utf8.count == 38 && 38 == 0x26)
        let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
        let text = "\(method) / HTTP/1.1\r\nHost: a\r\n\(attempt.fields)\r\n\r\n\(attempt.rest)\(next)"
        let requests = ParserOutcome.requests(text)
        expect(requests.map(\.target), is: ["/", "/next"])
        expect(requests.first?.body, is: Array(Self.hidden.utf8))
    }
}
