import Testing
import Tokens

@Suite("Reading a token")
struct TokenReadingTests {
    private static let header = Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    @Test(
        "counts the parts up to six, and takes the first three for header, payload and signature",
        arguments: [
            ("", 1), (".", 2), ("..", 3), ("a", 1), ("a.", 2), ("a.b", 2), ("a.b.", 3), (".b.c", 3), ("a.b.c", 3),
            ("a.b.c.", 4), ("a.b.c.d.e", 5), ("a.b.c.d.e.f", 6), ("a.b.c.d.e.f.g.h", 6), (".......", 6),
        ])
    func parts(_ text: String, _ count: Int) {
        let token = CompactToken(text)
        #expect(token.partCount == count)
        #expect(!token.isWellFormed)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        #expect(String(decoding: token.signingInput, as: UTF8.self) == (count > 1 ? "\(parts[0]).\(parts[1])" : ""))
        #expect((token.signature != nil) == (count > 2 && parts[2].utf8.count != 1))
    }

    @Test("does not look into one that is too long")
    func limit() {
        let token = CompactToken("a.b.c", limits: .init(bytes: 4))
        #expect(token.partCount == 0)
        #expect(token.header == nil)
        #expect(token.signingInput.isEmpty)
        #expect(token.structure.map(\.outcome) == [.failed] + Array(repeating: .notJudged, count: 8))
    }

    @Test("finds the same in a header however often it came")
    func again() {
        let first = CompactToken("\(Self.header).e30.AA")
        for _ in 0..<3 {
            let token = CompactToken("\(Self.header).e30.AA")
            #expect(token.header == first.header)
            #expect(token.structure == first.structure)
        }
    }

    @Test("holds a header that came before to the depth that is permitted now")
    func depth() {
        let header = Base64URL.encode(Array(#"{"alg":"HS256","a":{"b":{"c":1}}}"#.utf8))
        for _ in 0..<2 {
            #expect(CompactToken("\(header).e30.AA").header != nil)
            #expect(CompactToken("\(header).e30.AA", limits: .init(depth: 2)).header == nil)
        }
    }

    @Test("tells broken headers from sound ones, also when they take turns")
    func broken() {
        for _ in 0..<3 {
            #expect(CompactToken("\(Self.header).e30.AA").isWellFormed)
            #expect(!CompactToken("\(Self.header)=.e30.AA").isWellFormed)
            #expect(CompactToken("\(Self.header)=.e30.AA", encoding: .lenient).isWellFormed)
            #expect(!CompactToken("\(Self.header.dropLast(4)).e30.AA").isWellFormed)
        }
    }

    @Test("never takes one header for another, on many threads at once")
    func manyHeaders() async {
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    (0..<500).count { round in
                        let kid = "\(task)-\(round % 48 + 100)"
                        let header = Base64URL.encode(Array(#"{"alg":"HS256","kid":"\#(kid)"}"#.utf8))
                        return CompactToken("\(header).e30.AA").header?["kid"]?.string != kid
                    }
                }
            }
            for await wrong in group { #expect(wrong == 0) }
        }
    }
}
