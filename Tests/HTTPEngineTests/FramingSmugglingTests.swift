import Testing

@testable import HTTPEngine

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
        Attempt("CL.CL by a list", "Content-Length: 0, 43"),
        Attempt("CL.CL by a sign", "Content-Length: +43"),
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

    @Test(arguments: swallowed, ["GET", "HEAD", "POST", "DELETE", "OPTIONS"])
    func `Section 11-2: a request in a content stays content`(attempt: Attempt, method: String) {
        #expect(Self.hidden.utf8.count == 38 && 38 == 0x26)
        let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
        let text = "\(method) / HTTP/1.1\r\nHost: a\r\n\(attempt.fields)\r\n\r\n\(attempt.rest)\(next)"
        let requests = ParserOutcome.requests(text)
        #expect(requests.map(\.target) == ["/", "/next"])
        #expect(requests.first?.body == Array(Self.hidden.utf8))
    }
}
