import Expectations
import JSON
import Mutations
import Testing

@Suite("JSONPath, as RFC 9535 defines it") struct JSONPathTests {
    /// The example of RFC 9535 section 1.5, reduced to what the rows query.
    static let store: JSON = [
        "store": [
            "book": [
                ["category": "reference", "title": "Sayings of the Century", "price": 8.95],
                ["category": "fiction", "title": "Sword of Honour", "price": 12.99],
                ["category": "fiction", "title": "Moby Dick", "isbn": "0-553-21311-3", "price": 8.99],
                ["category": "fiction", "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99],
            ],
            "bicycle": ["color": "red", "price": 399],
        ]
    ]

    static let found: [(String, [JSON])] = [
        ("$.store.bicycle.color", ["red"]), ("$['store']['bicycle'][\"color\"]", ["red"]),
        ("$.store.book[0].title", ["Sayings of the Century"]), ("$.store.book[-1].price", [22.99]),
        ("$ .store\n[ 'bicycle' ]\t.color", ["red"]), ("$.store.bicycle.*", ["red", 399]),
        ("$.store.bicycle[*]", ["red", 399]), ("$.store.book[*].price", [8.95, 12.99, 8.99, 22.99]),
        ("$..color", ["red"]), ("$..price", [8.95, 12.99, 8.99, 22.99, 399]), ("$..book[2].title", ["Moby Dick"]),
        ("$..['color']", ["red"]), ("$..book[0,1].price", [8.95, 12.99]), ("$..book[:2].price", [8.95, 12.99]),
        ("$..book[-2:].price", [8.99, 22.99]), ("$..book[ 1 : 4 : 2 ].price", [12.99, 22.99]),
        ("$..book[?@.isbn].title", ["Moby Dick", "The Lord of the Rings"]), ("$..book[?!@.isbn].price", [8.95, 12.99]),
        ("$..book[?(@.title=='Moby Dick')].price", [8.99]), ("$..book[?@.price<10].price", [8.95, 8.99]),
        ("$..book[?@.price <= 8.99 && @.isbn].price", [8.99]),
        ("$..book[?@.price<8.96 || @.price>20].price", [8.95, 22.99]),
        ("$..book[?!(@.price<10) && @.category == $.store.book[1].category].price", [12.99, 22.99]),
        ("$.store[?@.color].price", [399]), ("$.none", []), ("$.store.book.title", []), ("$.store.bicycle[0]", []),
        ("$.store.book[4]", []), ("$.store.book[-5]", []),
    ]

    @Test("finds values in the order of the document", arguments: Self.found)
    func finds(_ path: String, _ values: [JSON]) throws {
        expect(try JSONPath(path).values(in: Self.store), is: values)
    }

    @Test("finds the whole value by the root alone")
    func root() throws { expect(try JSONPath("$").values(in: 1), is: [1]) }

    /// RFC 9535 table 9 and the edge cases of section 2.3.4.2.2.
    static let slices: [(String, [JSON])] = [
        ("$[1:3]", ["b", "c"]), ("$[5:]", ["f", "g"]), ("$[1:5:2]", ["b", "d"]), ("$[5:1:-2]", ["f", "d"]),
        ("$[::-1]", ["g", "f", "e", "d", "c", "b", "a"]), ("$[::0]", []),
        ("$[:]", ["a", "b", "c", "d", "e", "f", "g"]),
        ("$[-3:-1]", ["e", "f"]), ("$[10:]", []), ("$[-100:2]", ["a", "b"]), ("$[2:1]", []),
        ("$[-9007199254740991:9007199254740991:9007199254740991]", ["a"]),
    ]

    @Test("slices arrays", arguments: Self.slices) func takesSlices(_ path: String, _ values: [JSON]) throws {
        expect(try JSONPath(path).values(in: ["a", "b", "c", "d", "e", "f", "g"]), is: values)
        expect(try JSONPath(path).values(in: []), is: [])
    }

    static let names: [(String, JSON)] = [
        ("$[\"j j\"]", 1), ("$['k.k']", 2), (#"$['\'']"#, 3), (#"$["\""]"#, 4), (#"$['"']"#, 4),
        (#"$['\u263A']"#, 5), ("$.☺", 5), (#"$['\\']"#, 6), ("$['']", 7),
    ]

    @Test("reads names in quotes with the escapes of JSON", arguments: Self.names)
    func quotedNames(_ path: String, _ value: JSON) throws {
        let object: JSON = ["j j": 1, "k.k": 2, "'": 3, "\"": 4, "☺": 5, "\\": 6, "": 7]
        expect(try JSONPath(path).values(in: object), is: [value])
    }

    /// RFC 9535 table 11 and its consequences: `obj` is `{"x": "y"}`, `arr` is `[2, 3]`.
    static let comparisons: [(String, Bool)] = [
        ("$.absent1 == $.absent2", true), ("$.absent1 <= $.absent2", true), ("$.absent == 'g'", false),
        ("$.absent != 'g'", true), ("1 <= 2", true), ("1 > 2", false), ("13 == '13'", false), ("'a' <= 'b'", true),
        ("'a' > 'b'", false), ("$.obj == $.arr", false), ("$.obj != $.arr", true), ("$.obj == $.obj", true),
        ("$.obj == 17", false), ("$.obj <= $.arr", false), ("$.obj <= $.obj", true), ("1 <= $.arr", false),
        ("true <= true", true), ("true > true", false), ("null == null", true), ("$.null == null", true),
        ("1 == 1.0", true), ("1e2 == 100", true), ("9007199254740993 == 9007199254740992", false),
        ("$.same1 == $.same2", true), ("\"a\" < \"ä\"", true), ("-1 < 0", true),
    ]

    @Test("compares as section 2.3.5.2.2 says", arguments: Self.comparisons)
    func compares(_ comparison: String, _ holds: Bool) throws {
        let value: JSON = [
            "obj": ["x": "y"], "arr": [2, 3], "null": nil, "same1": ["a": 1, "b": [2]], "same2": ["b": [2.0], "a": 1],
        ]
        let found = try JSONPath("$.obj[?\(comparison)]").values(in: value)
        expect(found, is: (holds ? ["y"] : []))
    }

    static let refused: [(String, Int, String)] = [
        ("", 1, "the end"), ("a", 1, "“a”"), (" $", 1, "“ ”"), ("$ ", 2, "“ ”"), ("$.", 3, "the end"),
        ("$.a-b", 4, "“-”"), ("$.1a", 3, "“1”"), ("$. a", 3, "“ ”"), ("$...a", 4, "“.”"), ("$[", 3, "the end"),
        ("$[]", 3, "“]”"), ("$[a]", 3, "“a”"), ("$[0", 4, "the end"), ("$[0 1]", 5, "“1”"), ("$[01]", 3, "“01”"),
        ("$[-]", 3, "“-”"), ("$[-0]", 3, "“-0”"), ("$[9007199254740992]", 3, "“9007199254740992”"),
        ("$[1:2:3:4]", 8, "“:”"), ("$['a]", 6, "the end"), (#"$['\x']"#, 3, "a string in which unexpected “x”"),
        (#"$['\"']"#, 3, "a string in which unexpected “'”"), (#"$["\'"]"#, 3, "a string in which unexpected “'”"),
        ("$[?]", 4, "“]”"), ("$[?1]", 5, "“]”"), ("$[?@.a=1]", 7, "“=”"), ("$[?@.a==]", 9, "“]”"),
        ("$[?@.a=='x]", 12, "the end"), ("$[?(@.a]", 8, "“]”"), ("$[?@.a &&]", 10, "“]”"), ("$[?!1]", 5, "“1”"),
        ("$[?length(@.a)>1]", 4, "“length”"), ("$[?@.* == 1]", 6, "the end of a query for several values"),
        ("$[?1 == @..a]", 12, "the end of a query for several values"), ("$[?@.a == 01]", 11, "“01”"),
        ("$[?@.a == [1]]", 11, "“[”"), ("$[?@.a == 1 == 1]", 13, "“=”"),
    ]

    @Test("refuses all else, and says what was found and where", arguments: Self.refused)
    func refuses(_ path: String, _ position: Int, _ found: String) {
        let error = expect(throws: JSONPathError.self) { try JSONPath(path) }
        expect(error?.position, is: position)
        expect(error?.found, is: found)
        expect(error?.description.hasPrefix("“\(path)”, character \(position): found \(found); "), is: true)
    }

    @Test("refuses conditions nested deeper than 32 instead of running out of stack") func deepConditions() throws {
        func nested(_ depth: Int) -> String {
            "$[?" + String(repeating: "(", count: depth) + "@.a" + String(repeating: ")", count: depth) + "]"
        }
        expect(try JSONPath(nested(31)).values(in: [["a": 1]]), is: [["a": 1]])
        expect(throws: JSONPathError.self) { try JSONPath(nested(32)) }
        expect(throws: JSONPathError.self) { try JSONPath(nested(100_000)) }
        // Nested filters count as well.
        expect(throws: JSONPathError.self) { try JSONPath("$" + String(repeating: "[?@", count: 100_000)) }
    }

    @Test("knows which queries find one value at most") func singular() throws {
        for path in ["$", "$.a", "$.a[0]['b']", "$[-1]"] { #expect(try JSONPath(path).isSingular, "\(path)") }
        for path in ["$..a", "$.*", "$[0,1]", "$[0:1]", "$[?@.a]"] {
            #expect(try !JSONPath(path).isSingular, "\(path)")
        }
    }
}

@Suite("JSONPath that would take for ever") struct JSONPathBudgetTests {
    private static func nested(_ depth: Int, around count: Int) throws -> JSON {
        let zeros = Array(repeating: "0", count: count).joined(separator: ",")
        let text = String(repeating: "[", count: depth) + zeros + String(repeating: "]", count: depth)
        return try JSON.parse(text.utf8)
    }

    @Test(
        "a query that looks at the same values again and again finds nothing in the end",
        arguments: ["$..*..*..*", "$..*..*..*..*", "$..[?$..*]", "$..[?@..*]", "$..*[?@==$]..*..*"])
    func crafted(_ path: String) throws { expect(try JSONPath(path).values(in: Self.nested(60, around: 5000)), is: []) }

    @Test("a query that looks at each value of a large document once finds them")
    func large() throws { expect(try JSONPath("$..*").values(in: Self.nested(1, around: 100_000)).count, is: 100_000) }

    @Test("a query of more than a thousand characters is refused, whatever it joins") func long() throws {
        let text = "$[?" + Array(repeating: "@", count: 30_000).joined(separator: "||") + "]"
        let error = try #require(throws: JSONPathError.self) { try JSONPath(text) }
        expect(error.position, is: 1001)
        let short = "$[?" + Array(repeating: "@", count: 300).joined(separator: "||") + "]"
        expect(try JSONPath(short).values(in: [1, 2]), is: [1, 2])
    }
}

/// Parses mutated JSONPath queries, since control calls bring queries over the network.
@Suite("Mutated JSONPath") struct JSONPathMutationTests {
    static let seeds = [
        "$.store['book'][0,-1].title", "$..[?(@.a == 'x' && !@['b'] || $.c[1:5:2] >= 1.5)]",
        "$[*]..\u{E9}[\"\\u00e9\"]",
    ].map { Array($0.utf8) }

    @Test("never crashes the reader, and whatever is read can be asked") func mutate() {
        let value: JSON = ["store": ["book": [["title": "a", "a": "x"], ["b": [1, 2]]]], "c": [1, 2, 3], "é": nil]
        var random = SeededGenerator(seed: 0x5EED_0011)
        var accepted = 0
        for index in 0..<Mutation.inputs {
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
        expect(accepted, above: Mutation.inputs / 10)
        expect(Mutation.inputs, above: accepted)
    }
}

/// Parses mutated texts.
///
/// Deterministic: the same number of inputs gives the same inputs. `UNDERSTUDY_FUZZ_INPUTS` sets the number.
@Suite("Mutated JSON") struct JSONMutationTests {
    static let seeds = [
        "{\"sub\":\"mira\",\"aud\":[\"a\",\"b\"],\"exp\":1800001800.5,\"act\":{\"x\":null,\"y\":true}}",
        "[1,-0,0.5,1e10,1E-7,-12.25e+3,[[[]]],{},{\"\":\"\"}]",
        "\"\\u0041\\ud83d\\ude00\\n\\\\\\\"\\/ caf\u{E9} \u{1F600} \u{7F}\"",
        " { \"a\" : [ false , null ] , \"a\" : \"twice\" } ",
    ].map { Array($0.utf8) }

    @Test("never crashes the parser, and whatever parses is written and read back equal") func mutate() throws {
        var random = SeededGenerator(seed: 0x5EED_0003)
        var parsed = 0
        for index in 0..<Mutation.inputs {
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
        expect(parsed, above: Mutation.inputs / 5)
        expect(Mutation.inputs, above: parsed)
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

    @Test("reads an array, a slice and a lazy collection of the same bytes alike") func collections() throws {
        var random = SeededGenerator(seed: 0x5EED_0004)
        for index in 0..<min(Mutation.inputs, 5_000) {
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
