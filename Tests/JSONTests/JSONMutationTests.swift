import Foundation
import JSON
import Mutations
import Testing

/// Parses mutated texts.
///
/// Deterministic: the same number of inputs gives the same inputs. `UNDERSTUDY_FUZZ_INPUTS` sets the number.
@Suite("Mutated JSON")
struct JSONMutationTests {
    static let inputs = ProcessInfo.processInfo.environment["UNDERSTUDY_FUZZ_INPUTS"].flatMap { Int($0) } ?? 10_000

    static let seeds = [
        "{\"sub\":\"mira\",\"aud\":[\"a\",\"b\"],\"exp\":1800001800.5,\"act\":{\"x\":null,\"y\":true}}",
        "[1,-0,0.5,1e10,1E-7,-12.25e+3,[[[]]],{},{\"\":\"\"}]",
        "\"\\u0041\\ud83d\\ude00\\n\\\\\\\"\\/ caf\u{E9} \u{1F600} \u{7F}\"",
        " { \"a\" : [ false , null ] , \"a\" : \"twice\" } ",
    ].map { Array($0.utf8) }

    @Test("never crashes the parser, and whatever parses is written and read back equal")
    func mutate() throws {
        var random = SeededGenerator(seed: 0x5EED_0003)
        var parsed = 0
        for index in 0..<Self.inputs {
            var bytes = Self.seeds[index % Self.seeds.count]
            for _ in 0..<Int.random(in: 0...3, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            guard let value = try Self.parse(bytes) else { continue }
            parsed += 1
            let written = value.bytes
            let again = try JSON.parse(written)
            // Not `#expect`: it costs more than the parser, and this is the inner loop.
            if again.bytes != written || again != value { Issue.record("\(bytes) is not read back equal") }
            let pretty = try JSON.parse(value.prettyText.utf8)
            if pretty.bytes != written { Issue.record("\(bytes) is not read back equal when written for people") }
        }
        // Otherwise a parser that rejects everything would satisfy the properties above.
        #expect(parsed > Self.inputs / 5)
        #expect(parsed < Self.inputs)
    }

    /// The parsed value; `nil` after checking the error's position.
    private static func parse(_ bytes: [UInt8]) throws -> JSON? {
        do throws(JSONError) {
            return try JSON.parse(bytes)
        } catch {
            if !(0...bytes.count).contains(error.offset) || error.line < 1 || error.column < 1 {
                Issue.record("\(bytes) has a fault at an impossible place: \(error)")
            }
            return nil
        }
    }

    @Test("reads an array, a slice and a lazy collection of the same bytes alike")
    func collections() throws {
        var random = SeededGenerator(seed: 0x5EED_0004)
        for index in 0..<min(Self.inputs, 5_000) {
            var bytes = Self.seeds[index % Self.seeds.count]
            Mutation.apply(to: &bytes, using: &random)
            let slice = ([0x20] + bytes + [0x20])[1..<(bytes.count + 1)]
            let results = [
                Result { () throws(JSONError) in try JSON.parse(bytes) },
                Result { () throws(JSONError) in try JSON.parse(slice) },
                Result { () throws(JSONError) in try JSON.parse(bytes.lazy.map { $0 }) },
            ]
            if results[0] != results[1] || results[0] != results[2] { Issue.record("\(bytes) is read differently") }
        }
    }
}
