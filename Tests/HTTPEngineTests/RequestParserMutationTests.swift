import Mutations
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Feeds the parser randomly damaged requests, the same ones in every run.
@Suite struct RequestParserMutationTests {
    /// The number of inputs, set by `UNDERSTUDY_FUZZ_INPUTS`.
    private static let inputCount = getenv("UNDERSTUDY_FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 10_000

    @Test(arguments: 0..<8)
    func `Damaged requests come out complete or refused, whatever the portions`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var tally: [Bool: Int] = [:]
        for number in 0..<max(1, Self.inputCount / 8) {
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
        #expect(tally[true, default: 0] > Self.inputCount / 80)
        #expect(tally[false, default: 0] > Self.inputCount / 80)
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
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a/b?c=d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
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
