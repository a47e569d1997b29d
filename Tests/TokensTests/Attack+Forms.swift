import JSON
import Tokens

extension Attack {
    static let encodingAttacks: [Attack] = [
        Attack("empty text", "parts") { _ in "" },
        Attack("no dot", "parts") { try change($0) { [$0.joined()] } },
        Attack("two parts", "parts") { try change($0) { [$0[0], $0[1]] } },
        Attack("four parts", "parts") { try change($0) { $0 + ["e30"] } },
        Attack("a dot at the end", "parts") { try change($0) { $0 + [""] } },
        Attack("a dot in front", "parts") { try change($0) { [""] + $0 } },
        Attack("five parts, as an encrypted token has", "parts") { try change($0) { $0 + $0.suffix(2) } },
        Attack("dots only", "parts") { _ in String(repeating: ".", count: 5000) },
        Attack("two dots only", "header-json") { _ in ".." },
        Attack("header padded", "header-base64url") { _ in
            try sign(header: Array("{\"alg\":\"HS256\"} ".utf8), payload: Array("{}".utf8), .hs256)
                .replacing(".", with: "=.", maxReplacements: 1)
        },
        Attack("payload padded", "payload-base64url") { try change($0) { [$0[0], $0[1] + "=", $0[2]] } },
        Attack("signature padded", "signature-base64url") { try change($0) { [$0[0], $0[1], $0[2] + "="] } },
        Attack("padded throughout and signed so", "payload-base64url") {
            try TokenDraft(header: ["alg": "HS256"], claims: ["sub": "mira1", "exp": 1_800_001_800])
                .mint(key: key(for: $0), algorithm: $0, defect: .paddedBase64)
        },
        Attack("standard alphabet", "payload-base64url") { algorithm in
            let token = try sign([("alg", "HS256")], algorithm, payload: "{\"sub\":\"\u{FF}?>~\u{3FF}\u{3FB}\"}")
            let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let payload = parts[1].replacing("-", with: "+").replacing("_", with: "/")
            return [parts[0], payload, parts[2]].joined(separator: ".")
        },
        Attack("a blank in front", "header-base64url") { " " + (try change($0) { $0 }) },
        Attack("a line break at the end", "signature-base64url") { try change($0) { $0 } + "\n" },
        Attack("a line break inside", "payload-base64url") {
            try change($0) { [$0[0], "\($0[1].prefix(8))\r\n\($0[1].dropFirst(8))", $0[2]] }
        },
        Attack("a NUL at the end", "signature-base64url") { try change($0) { $0 } + "\u{0}" },
        Attack("letters that only look like ASCII", "payload-base64url") {
            try change($0) { [$0[0], $0[1].replacing("e", with: "\u{435}"), $0[2]] }
        },
        Attack("a percent escape", "signature-base64url") {
            try change($0) { [$0[0], $0[1], "%41" + $0[2].dropFirst()] }
        },
        Attack("an impossible length", "signature-base64url") { try change($0) { [$0[0], $0[1], $0[2] + "AA"] } },
        Attack("unused bits of the signature set", "signature-base64url") {
            try change($0) { [$0[0], $0[1], $0[2].dropLast() + next($0[2])] }
        },
        Attack("unused bits of the signature set, as signature", "signature") {
            try change($0) { [$0[0], $0[1], $0[2].dropLast() + next($0[2])] }
        },
        Attack("an extra dot inside, as signature", "signature") { try change($0) { $0 + [$0[2]] } },
        Attack("larger than any token", "size") {
            try sign([("alg", "HS256"), ("x", .string(String(repeating: "a", count: 16_384)))], $0)
        },
    ]

    /// The next character after the last one: decodes to the same bytes if unused bits are ignored.
    private static func next(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard let last = text.last, let index = alphabet.firstIndex(of: last) else { return "" }
        return String(alphabet[(index + 1) % 64])
    }

    private static func payload(_ name: String, _ check: String, _ text: String) -> Attack {
        Attack(name, check) { try sign([("alg", "HS256")], $0, payload: text) }
    }

    private static func header(_ name: String, _ check: String, _ text: [UInt8]) -> Attack {
        Attack(name, check) { try sign(header: text, payload: JSON.object(claims).bytes, $0) }
    }

    private static let good = "{\"sub\":\"mira\",\"exp\":1800001800"

    static let jsonAttacks: [Attack] = [
        header("header no JSON", "header-json", Array("alg=HS256".utf8)),
        header("header an array", "header-json", Array("[\"HS256\"]".utf8)),
        header("header a string", "header-json", Array("\"HS256\"".utf8)),
        header("header null", "header-json", Array("null".utf8)),
        header("header empty", "header-json", []),
        header("header with a byte-order mark", "header-json", [0xEF, 0xBB, 0xBF] + Array("{\"alg\":\"HS256\"}".utf8)),
        header("header in UTF-16", "header-json", "{\"alg\":\"HS256\"}".utf16.flatMap { [UInt8($0), 0] }),
        header(
            "header with invalid UTF-8", "header-json",
            Array("{\"alg\":\"HS256\",\"x\":\"".utf8) + [0xFF] + Array("\"}".utf8)),
        header(
            "header with overlong UTF-8", "header-json",
            Array("{\"alg\":\"HS256\",\"x\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8)),
        header("header with half a surrogate pair", "header-json", Array("{\"alg\":\"HS256\",\"x\":\"\\ud800\"}".utf8)),
        header("header with something behind it", "header-json", Array("{\"alg\":\"HS256\"}{\"alg\":\"none\"}".utf8)),
        header("header with a NUL behind it", "header-json", Array("{\"alg\":\"HS256\"}\u{0}".utf8)),
        header("header with a comment", "header-json", Array("{\"alg\":\"HS256\"/**/}".utf8)),
        header("header nested deeper than 64", "header-json", deep("{\"alg\":\"HS256\",\"x\":", 64)),
        header("alg twice, good first", "header-duplicates", Array("{\"alg\":\"HS256\",\"alg\":\"none\"}".utf8)),
        header("alg twice, good last", "header-duplicates", Array("{\"alg\":\"none\",\"alg\":\"HS256\"}".utf8)),
        header("alg twice, one escaped", "header-duplicates", Array("{\"alg\":\"HS256\",\"\\u0061lg\":\"none\"}".utf8)),
        header("alg twice, as signature", "signature", Array("{\"alg\":\"HS256\",\"alg\":\"HS256\"}".utf8)),
        header("crit escaped", "critical", Array("{\"alg\":\"HS256\",\"cr\\u0069t\":[\"b64\"]}".utf8)),
        payload("payload no JSON", "payload-json", "mira"),
        payload("payload an array", "payload-json", "[\(good)}]"),
        payload("payload empty", "payload-json", ""),
        payload("payload with a byte-order mark", "payload-json", "\u{FEFF}\(good)}"),
        payload(
            "payload nested deeper than 64", "payload-json", String(decoding: deep("\(good),\"x\":", 64), as: UTF8.self)
        ),
        payload("payload with NaN", "payload-json", "{\"sub\":\"mira\",\"exp\":NaN}"),
        payload("payload with a number in hexadecimal", "payload-json", "{\"sub\":\"mira\",\"exp\":0x7FFFFFFF}"),
        payload("payload with a trailing comma", "payload-json", "\(good),}"),
        payload("payload with single quotes", "payload-json", "{'sub':'mira','exp':1800001800}"),
        payload("exp twice", "payload-duplicates", "\(good),\"exp\":9900001800}"),
        payload("exp twice, one escaped", "payload-duplicates", "\(good),\"\\u0065xp\":9900001800}"),
        payload("sub twice inside a claim", "payload-duplicates", "\(good),\"act\":{\"sub\":1,\"sub\":2}}"),
        payload("sub twice inside an array", "payload-duplicates", "\(good),\"act\":[[{\"sub\":1,\"sub\":2}]]}"),
        payload("sub empty", "claim-sub-present", "{\"sub\":\"\",\"exp\":1800001800}"),
        payload("sub under another name", "claim-sub-present", "{\"Sub\":\"mira\",\"exp\":1800001800}"),
        payload("sub an object", "claim-sub-present", "{\"sub\":{\"mira\":1},\"exp\":1800001800}"),
    ]

    private static func deep(_ start: String, _ levels: Int) -> [UInt8] {
        let arrays = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        return Array("\(start)\(arrays)}".utf8)
    }

    static let timeAttacks: [Attack] =
        [
            "true", "null", "\"1800001800\"", "\"\"", "\"never\"", "[1800001800]", "{\"$gt\":0}", "1e400", "-1e400",
            "1e309",
            "9007199254740994", "99999999999999999999",
        ].flatMap { text in
            [
                Attack("exp \(text), as expiry", "expiry") { _ in try expiry(text) },
                Attack("exp \(text), as claim", "claim-exp-present") { _ in try expiry(text) },
            ]
        } + [
            Attack("exp absent", "expiry") { try sign([("alg", "HS256")], $0, payload: "{\"sub\":\"mira\"}") },
            Attack("exp this very second", "expiry") { _ in try expiry("1800000000") },
            Attack("exp a fraction ago", "expiry") { _ in try expiry("1799999999.999") },
            Attack("exp zero", "expiry") { _ in try expiry("0") },
            Attack("exp minus zero", "expiry") { _ in try expiry("-0") },
            Attack("exp negative", "expiry") { _ in try expiry("-1800001800") },
            Attack("exp below one by exponent", "expiry") { _ in try expiry("1800001800e-9") },
        ]
}
