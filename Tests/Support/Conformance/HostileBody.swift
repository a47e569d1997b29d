import JSON

/// A content that no reasonable client sends.
struct HostileBody: Sendable, CustomStringConvertible {
    let description: String
    let bytes: [UInt8]
    var fields: World.Fields = []

    private init(_ description: String, _ text: String, _ fields: World.Fields = []) {
        self.init(description, bytes: Array(text.utf8), fields)
    }

    private init(_ description: String, bytes: [UInt8], _ fields: World.Fields = []) {
        (self.description, self.bytes, self.fields) = (description, bytes, fields)
    }

    /// Contents that are hostile to every route, and variants of a good one with one member changed.
    static func all(insteadOf good: String) -> [HostileBody] {
        guard let object = try? JSON.parse(Array(good.utf8)).object else { return general + forms(insteadOf: good) }
        return general + object.flatMap { member in variants(of: member.name, in: object) } + [
            HostileBody("a good one with two members of each name", "{" + object.description(twice: true) + "}"),
            HostileBody("a good one with an unknown member", "{" + object.description() + #","x":{"y":[null]}}"#),
            HostileBody("half of a good one", bytes: Array(good.utf8.prefix(good.utf8.count / 2))),
        ]
    }

    private static let deep = String(repeating: "[", count: 5000)

    private static let general: [HostileBody] = [
        HostileBody("nothing", ""), HostileBody("an open object", "{"), HostileBody("an array", "[]"),
        HostileBody("null", "null"), HostileBody("a number", "7"), HostileBody("a string", #""x""#),
        HostileBody("text", "hello"), HostileBody("an empty object", "{}"), HostileBody("white space", " \n\t "),
        HostileBody("open arrays", deep), HostileBody("nested arrays", deep + deep.replacing("[", with: "]")),
        HostileBody("nested objects", String(repeating: #"{"a":"#, count: 5000)),
        HostileBody("no UTF-8", bytes: [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x3A, 0x31, 0x7D]),
        HostileBody("a NUL", bytes: [0x7B, 0, 0x7D]), HostileBody("a lone surrogate", #"{"a":"\ud800"}"#),
        HostileBody("a byte-order mark", "\u{FEFF}{}"), HostileBody("a number without end", #"{"a":1e999999}"#),
        HostileBody("a form", "a=1&b=2", [("content-type", "application/x-www-form-urlencoded")]),
        HostileBody("multipart without an end", "--x\r\n", [("content-type", "multipart/form-data; boundary=x")]),
        HostileBody("multipart without a boundary", "--\r\n", [("content-type", "multipart/form-data")]),
        HostileBody("a type that is none", "{}", [("content-type", ";;;=\"")]),
        HostileBody("what claims to be compressed", "{}", [("content-encoding", "gzip")]),
    ]

    /// Variants of a good form; none for content that is no form.
    private static func forms(insteadOf good: String) -> [HostileBody] {
        let pairs = good.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        guard !pairs.isEmpty, pairs.allSatisfy({ $0.count == 2 }) else { return [] }
        func form(_ change: (String, String) -> String?) -> String {
            pairs.compactMap { change($0[0], $0[1]) }.joined(separator: "&")
        }
        return pairs.flatMap { pair in
            let name = pair[0]
            return [HostileBody("no \(name)", form { $0 == name ? nil : "\($0)=\($1)" })]
                + formValues.map { kind, value in
                    HostileBody("\(name) as \(kind)", form { "\($0)=\($0 == name ? value : $1)" })
                }
        } + [
            HostileBody("a good one with each parameter twice", good + "&" + good),
            HostileBody("a good one with an unknown parameter", good + "&x[y]=%00"),
            HostileBody("a thousand parameters", good + String(repeating: "&x=1", count: 1000)),
            HostileBody("half of a good one", bytes: Array(good.utf8.prefix(good.utf8.count / 2))),
        ]
    }

    private static let formValues: [(name: String, value: String)] = [
        ("nothing", ""), ("a broken escape", "%"), ("no UTF-8", "%FF%FE"), ("a NUL", "%00"), ("blanks", "+%20+"),
        ("line ends", "%0D%0Ax%3A+y"), ("quotes and brackets", "%22%27%3C%2Fscript%3E"), ("dots", "x.y.z"),
        ("a long text", String(repeating: "%C3%BC", count: 9000)), ("another sign", "%E2%80%AE"),
    ]

    private static let values: [(name: String, value: JSON)] = [
        ("null", .null), ("true", true), ("a number", 7), ("a huge number", JSON(Int.max)), ("a fraction", 1.5),
        ("an empty string", ""), ("a string", "x\u{0}\u{202E}"), ("an array", []), ("an array of nulls", [.null]),
        ("an object", [:]), ("an object in it", ["": ["": .null]]),
        ("a long string", .string(String(repeating: "ü", count: 9000))),
    ]

    private static func variants(of name: String, in object: JSONObject) -> [HostileBody] {
        var without = object
        without[name] = nil
        return [HostileBody("no \(name)", JSON.object(without).text)]
            + values.map { kind, value in
                var changed = object
                changed[name] = value
                return HostileBody("\(name) as \(kind)", JSON.object(changed).text)
            }
    }
}

extension JSONObject {
    /// The members as text, without the braces.
    fileprivate func description(twice: Bool = false) -> String {
        let members = map { "\(JSON.string($0.name).text):\($0.value.text)" }
        return (twice ? members + members : members).joined(separator: ",")
    }
}
