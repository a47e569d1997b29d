import Contracts
import Foundation
import Mutations
import Testing

/// Parses mutated Hurl files.
///
/// Deterministic: the same number of inputs gives the same inputs. `UNDERSTUDY_FUZZ_INPUTS` sets the number.
@Suite("Mutated Hurl files")
struct HurlFileMutationTests {
    static let inputs = ProcessInfo.processInfo.environment["UNDERSTUDY_FUZZ_INPUTS"].flatMap { Int($0) } ?? 5_000

    static let seeds = [
        "# a\nPOST {{base}}/a?b=1 # c\nx: y \\u{e9}\n[Query]\nq: {{v}}\n[Options]\nvariable: n=\"{{a}}\"\n{\"a\":[1,{{v}},\"{{w}}\\n\"]}\n",
        "GET http://a\nHTTP 200\nX: y\n[Captures]\nid: jsonpath \"$.a[0]\" split \",\" nth 1\n[Asserts]\nstatus >= 200\nbody matches /a\\/b/\n",
        "PUT http://a\n```json\n{ }\n```\nHTTP *\n`one \\` line`\n",
        "GET http://a\nbase64,YWI=;\nHTTP 204\nhex,cafe;\n",
    ].map { Array($0.utf8) }

    @Test("never crash the reader, and what is refused is refused at a place inside the file")
    func mutate() {
        var random = SeededGenerator(seed: 0x5EED_0010)
        var accepted = 0
        for index in 0..<Self.inputs {
            var bytes = Self.seeds[index % Self.seeds.count]
            for _ in 0..<Int.random(in: 0...3, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            do throws(HurlProblem) {
                _ = try HurlFile(name: "a", bytes: bytes)
                accepted += 1
            } catch {
                let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                let isInside =
                    (1...lines.count).contains(error.place.line)
                    && (1...lines[error.place.line - 1].count + 1).contains(error.place.column)
                if !isInside { Issue.record("\(bytes) has a fault at an impossible place: \(error)") }
            }
        }
        // Otherwise a reader that rejects everything would pass.
        #expect(accepted > Self.inputs / 10)
        #expect(accepted < Self.inputs)
    }
}
