import Foundation
import JSON
import Mutations
import Testing

/// Parses mutated JSONPath queries, since control calls bring queries over the network.
@Suite("Mutated JSONPath")
struct JSONPathMutationTests {
    static let seeds = [
        "$.store['book'][0,-1].title", "$..[?(@.a == 'x' && !@['b'] || $.c[1:5:2] >= 1.5)]",
        "$[*]..\u{E9}[\"\\u00e9\"]",
    ].map { Array($0.utf8) }

    @Test("never crashes the reader, and whatever is read can be asked")
    func mutate() {
        let value: JSON = ["store": ["book": [["title": "a", "a": "x"], ["b": [1, 2]]]], "c": [1, 2, 3], "é": nil]
        var random = SeededGenerator(seed: 0x5EED_0011)
        var accepted = 0
        for index in 0..<JSONMutationTests.inputs {
            var bytes = Self.seeds[index % Self.seeds.count]
            for _ in 0..<Int.random(in: 0...3, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            let text = String(decoding: bytes, as: UTF8.self)
            do throws(JSONPathError) {
                let path = try JSONPath(text)
                let found = path.values(in: value)
                if path.isSingular, found.count > 1 {
                    Issue.record("\(text) is singular and finds \(found.count) values")
                }
                accepted += 1
            } catch {
                if !(1...text.unicodeScalars.count + 1).contains(error.position) {
                    Issue.record("\(text) has a fault at an impossible place: \(error)")
                }
            }
        }
        #expect(accepted > JSONMutationTests.inputs / 10)
        #expect(accepted < JSONMutationTests.inputs)
    }
}
