import JSON
import Testing

@testable import Emulation

@Suite("Reading the members of a body")
struct FieldReaderTests {
    @Test("collects everything that is wrong, in the order of reading")
    func problems() {
        var reader = FieldReader(["a": 1, "b": "x", "c": nil, "d": "yes", "f": nil])
        #expect(reader.string("a") == nil)
        #expect(reader.string("b", minimumLength: 2) == nil)
        #expect(reader.string("c", isRequired: true) == nil)
        #expect(reader.bool("d") == nil)
        #expect(reader.string("e", isRequired: true) == nil)
        #expect(reader.string("f", isRequired: true, acceptsNull: true) == nil)
        #expect(reader.string("g") == nil)
        #expect(reader.bool("g") == nil)
        let problems = reader.problems.map { "\($0.name) \($0.kind)" }
        #expect(
            problems == [
                #"a wrongType(expected: "string", found: "number")"#, "b tooShort(minimum: 2, length: 1)",
                #"c wrongType(expected: "string", found: "null")"#,
                #"d wrongType(expected: "boolean", found: "string")"#,
                "e missing",
            ])
    }

    @Test("another spelling counts where the usual one is absent")
    func spellings() {
        var reader = FieldReader(["line_1": "usual", "line1": "other", "line2": "second"])
        #expect(reader.string("line_1", or: "line1") == "usual")
        #expect(reader.string("line_2", or: "line2", isRequired: true) == "second")
        #expect(reader.problems.isEmpty)
    }
}
