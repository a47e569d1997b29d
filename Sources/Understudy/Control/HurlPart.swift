import Emulation
import HTTPTypes
import JSON
import Wire

/// One exported call: the calls that prepare it, and the call itself with the expected answer.
struct HurlPart {
    private let entry: JournalEntry
    private let masked: MaskedExchange
    /// The compact tokens of the request, as sent.
    private let tokens: [String]
    /// The tokens that it has a minting call for.
    private(set) var named: [String] = []

    init(_ entry: JournalEntry, masked: MaskedExchange) {
        self.entry = entry
        self.masked = masked
        tokens = PresentedTokens.of(entry.request)
    }

    var title: String {
        let words = [entry.record.route ?? masked.path, entry.record.failure].compactMap(\.self)
        return "entry \(entry.id), \(words.joined(separator: ", "))"
    }

    /// The fields that belong to the connection, the client's library or the sandbox.
    private static let left: Set<String> = [
        "host", "content-length", "connection", "accept-encoding", "user-agent", "transfer-encoding", "expect",
        "x-understudy-sandbox", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "keep-alive",
    ]

    /// The calls that mint the tokens it needs.
    ///
    /// - Throws: why it cannot be repeated.
    mutating func prepare(
        _ values: inout CapturedValues, _ index: Int, of call: ControlCall
    ) throws(HurlOmission) -> [String] {
        if entry.record.intervention != nil { throw HurlOmission(why: "which a fault or a scenario answered") }
        if entry.record.isIntervened { throw HurlOmission(why: "whose answer was changed on purpose") }
        if entry.request.fields[.upgrade] != nil { throw HurlOmission(why: "which opened a socket") }
        if entry.omitsBodies || entry.request.bodyExceedsLimit {
            throw HurlOmission(why: "whose content was too long to be kept")
        }
        if masked.hidesMoreThanTokens { throw HurlOmission(why: "which holds a secret that the journal masks") }
        var calls: [String] = []
        for token in tokens where !values.knows(token) {
            guard let id = entry.record.vendor, let vendor = call.emulator.vendor(id),
                let recipe = TokenRecipe(
                    for: token, of: call.emulator.vendors[vendor], in: call.sandbox.vendor(vendor),
                    at: entry.moment)
            else { throw HurlOmission(why: "whose token cannot be minted again") }
            named.append(token)
            calls.append(values.replaced(Self.minting(recipe, values.name(token: token))))
        }
        if calls.contains(where: values.needsLost) { throw Self.needsLost }
        return calls
    }

    private static let needsLost = HurlOmission(why: "which needs the answer of an omitted call")

    private static func minting(_ recipe: TokenRecipe, _ name: String) -> String {
        """
        POST {{base}}/_understudy/tokens/\(recipe.vendor)/\(recipe.kind)
        \(JSON.object(recipe.members).text)
        HTTP 200
        [Captures]
        \(name): jsonpath "$.token"

        """
    }
}

// MARK: - The case

extension HurlPart {
    /// The case.
    ///
    /// - Throws: why it cannot be written.
    func text(_ values: CapturedValues, _ index: Int) throws(HurlOmission) -> String {
        let target = entry.request.target
        guard target.hasPrefix("/"), Self.isPlain(target), !target.utf8.contains(UInt8(ascii: "#")) else {
            throw HurlOmission(why: "whose target cannot be written")
        }
        var lines = ["# \(title)", "\(entry.request.method.rawValue) {{base}}\(values.replaced(target))"]
        for (name, value) in entry.request.fields where !Self.left.contains(name.lowercased()) {
            guard Self.isPlain(value) else { throw HurlOmission(why: "whose fields cannot be written") }
            lines.append("\(name): \(values.replaced(Self.escaped(value)))")
        }
        if !entry.request.body.isEmpty { lines.append(try body(values)) }
        lines.append("HTTP \(entry.response.status.code)")
        if let captures = values.captures[index] {
            lines.append("[Captures]")
            lines += captures.map { "\($0.name): jsonpath \"\($0.path)\"" }
        }
        let asserts = asserts
        if !asserts.isEmpty { lines += ["[Asserts]"] + asserts }
        let text = lines.joined(separator: "\n") + "\n"
        if values.needsLost(text) { throw Self.needsLost }
        return text
    }

    /// Whether the text is printable, and cannot be mistaken for a variable.
    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F } && text.firstRange(of: "{{") == nil
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("#", with: "\\#")
    }

    private func body(_ values: CapturedValues) throws(HurlOmission) -> String {
        let bytes = entry.request.body
        if let json = try? JSON.parse(bytes), json.object != nil || json.array != nil {
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.firstRange(of: "{{") == nil else { throw HurlOmission(why: "whose content cannot be written") }
            return values.replaced(text)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let replaced = values.replaced(text)
        if replaced != text, Self.isPlain(text), !text.utf8.contains(UInt8(ascii: "`")),
            !text.utf8.contains(UInt8(ascii: "\\"))
        {
            return "`\(replaced)`"
        }
        return "hex,\(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined());"
    }

    /// Whether the text looks like an id that was drawn for this answer: many letters and digits, and nothing else.
    private static func isDrawn(_ text: String) -> Bool {
        text.count >= 20 && text.allSatisfy { $0.isLetter || $0.isNumber }
    }

    /// The parts of the answer that must recur: the words of a refusal, but not its numbers, ids and times.
    private var asserts: [String] {
        guard entry.record.failure != nil, let body = (try? JSON.parse(entry.response.body))?.object else { return [] }
        return body.compactMap { member in
            guard let text = member.value.string, member.name.allSatisfy({ $0.isLetter || $0 == "_" }),
                text.firstRange(of: "{{") == nil, text.filter(\.isNumber).count < 4, !Self.isDrawn(text)
            else { return nil }
            return "jsonpath \"$.\(member.name)\" == \(JSON.string(text).text)"
        }
    }
}
