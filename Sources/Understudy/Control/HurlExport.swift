import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// A sandbox's calls as contract cases that pass when replayed from a fresh sandbox.
///
/// It omits what the journal masks. A token is minted again, with the defect it had; a value from an earlier answer is
/// captured from the answer to the same call; a call that contains another secret is left out, and a comment says so.
struct HurlExport {
    private let entries: [JournalEntry]
    private let emulator: Emulator
    private let sandbox: Sandbox
    /// The real server that answered; `nil` for the sandbox.
    private let origin: String?

    init(_ entries: [JournalEntry], _ emulator: Emulator, _ sandbox: Sandbox, from origin: String? = nil) {
        (self.entries, self.emulator, self.sandbox, self.origin) = (entries, emulator, sandbox, origin)
    }

    var text: String {
        var values = CapturedValues(of: entries)
        var parts = [preparation]
        var moment: Moment?
        // The vendors whose records may differ, since a call that changed them was left out.
        var strange: Set<String?> = []
        for (index, entry) in entries.enumerated() {
            var part = HurlPart(entry, masked: MaskedExchange(entry, by: sandbox.redactor))
            do throws(HurlOmission) {
                if strange.contains(entry.record.vendor) { throw HurlOmission(why: "which may need an omitted call") }
                let calls = try part.prepare(&values, index, emulator, sandbox, isForeign: origin != nil)
                if moment != entry.moment { parts.append(Self.clock(entry.moment)) }
                moment = entry.moment
                parts += calls + [try part.text(values, index)]
            } catch {
                values.forget(givenBy: index, tokens: part.named)
                if entry.changesSomething { strange.insert(entry.record.vendor) }
                parts.append("# left out: \(part.title), \(error.why)\n")
            }
        }
        return parts.joined(separator: "\n")
    }

    private static func clock(_ moment: Moment) -> String {
        """
        PUT {{base}}/_understudy/clock
        {"now":"\(moment.rfc3339)","freeze":true}
        HTTP 200

        """
    }

    private var preparation: String {
        """
        # Calls from \(origin ?? "the journal of sandbox \(sandbox.name)"). They start from a fresh sandbox: what changed users before the
        # first of them, and faults and scenarios, are not repeated.
        POST {{base}}/_understudy/reset
        HTTP 204

        PUT {{base}}/_understudy/settings
        \(settings.text)
        HTTP 200

        """
    }

    /// The profile, and the switches that differ from it.
    private var settings: JSON {
        let settings = sandbox.settings
        var switches = JSONObject()
        for vendor in emulator.vendors {
            let id = vendor.identity.id
            let values = settings.values(vendor: id, vendor.switchDeclarations)
            for each in vendor.switchDeclarations where values[each.name] != each.value(in: settings.profile) {
                switches.append("\(id).\(each.name)", .string(values[each.name]))
            }
        }
        return ["profile": .string(settings.profile.rawValue), "switches": .object(switches)]
    }
}

extension JournalEntry {
    fileprivate var changesSomething: Bool {
        request.method != .get && request.method != .head && (200..<300).contains(response.status.code)
    }
}

struct HurlOmission: Error, CustomStringConvertible {
    let why: String

    var description: String { why }
}

/// One exported call: the calls that prepare it, and the call itself with the expected answer.
struct HurlPart {
    private let entry: JournalEntry
    private let masked: MaskedExchange
    /// The compact tokens of the request, as sent.
    private let tokens: [String]
    /// The tokens that it has a minting call for.
    private(set) var named: [String] = []

    init(_ entry: JournalEntry, masked: MaskedExchange) {
        (self.entry, self.masked, tokens) = (entry, masked, PresentedTokens.of(entry.request))
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
        _ values: inout CapturedValues, _ index: Int, _ emulator: Emulator, _ sandbox: Sandbox, isForeign: Bool
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
            guard let id = entry.record.vendor, let vendor = emulator.vendor(id),
                let recipe = TokenRecipe(
                    for: token, of: emulator.vendors[vendor], in: sandbox.vendor(vendor), at: entry.moment,
                    isForeign: isForeign)
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
        // No answer is known where a recording has none.
        let status = entry.response.status.code
        lines.append("HTTP \(status == 0 ? "*" : "\(status)")")
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
        let text = String(decoding: bytes, as: UTF8.self)
        if let json = try? JSON.parse(bytes), json.object != nil || json.array != nil {
            guard text.firstRange(of: "{{") == nil else { throw HurlOmission(why: "whose content cannot be written") }
            return values.replaced(text)
        }
        let replaced = values.replaced(text)
        if replaced != text, Self.isPlain(text), !text.utf8.contains(UInt8(ascii: "`")),
            !text.utf8.contains(UInt8(ascii: "\\"))
        {
            return "`\(replaced)`"
        }
        return "hex,\(Hexadecimal.encode(bytes));"
    }

    /// Whether the text looks like an id generated for this answer: many letters and digits, and nothing else.
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

/// Variables in exported cases: values from answers that later calls repeat, and tokens.
struct CapturedValues {
    private struct Origin {
        let entry: Int
        let path: String
    }

    private var origins: [String: Origin] = [:]
    private var names: [String: String] = [:]
    private var tokenCount = 0
    /// The names whose values no exported answer provides.
    private var lost: Set<String> = []
    /// The names captured from an entry's answer, with their paths in it.
    private(set) var captures: [Int: [(name: String, path: String)]] = [:]

    /// Collects the values from the answers of these entries that later entries repeat.
    init(of entries: [JournalEntry]) {
        // A value that a client sent first did not come from an answer.
        var said: Set<String> = []
        for (index, entry) in entries.enumerated() {
            let words = Self.words(of: entry.request)
            for word in words { note(word, usedBy: index) }
            said.formUnion(words)
            guard !entry.record.isIntervened, let body = try? JSON.parse(entry.response.body) else { continue }
            collect(body, "$", index, said)
        }
    }

    private mutating func note(_ word: String, usedBy index: Int) {
        guard names[word] == nil, let origin = origins[word], origin.entry < index else { return }
        let name = "value\(names.count + 1)"
        names[word] = name
        captures[origin.entry, default: []].append((name, origin.path))
    }

    /// ours: a shorter string occurs in requests by chance too often; the second number limits how many are kept.
    private static let (shortest, most) = (6, 20_000)

    private mutating func collect(_ value: JSON, _ path: String, _ index: Int, _ said: Set<String>) {
        if let object = value.object {
            for member in object where member.name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
                collect(member.value, "\(path).\(member.name)", index, said)
            }
        } else if let array = value.array {
            for (position, element) in array.enumerated() { collect(element, "\(path)[\(position)]", index, said) }
        } else if let text = value.string, text.utf8.count >= Self.shortest, origins.count < Self.most,
            text.unicodeScalars.allSatisfy(Self.isInWord), !said.contains(text), origins[text] == nil
        {
            origins[text] = Origin(entry: index, path: path)
        }
    }

    /// Drops the call of that entry, with the values it would provide and the names of its tokens.
    mutating func forget(givenBy index: Int, tokens: [String]) {
        lost.formUnion((captures[index] ?? []).map(\.name))
        for token in tokens { names[token] = nil }
    }

    /// Whether the text needs a value from the answer to a dropped call.
    func needsLost(_ text: String) -> Bool { lost.contains { text.firstRange(of: "{{\($0)}}") != nil } }

    mutating func name(token: String) -> String {
        tokenCount += 1
        names[token] = "token\(tokenCount)"
        return "token\(tokenCount)"
    }

    func knows(_ text: String) -> Bool { names[text] != nil }

    /// The text with `{{name}}` in place of known values.
    func replaced(_ text: String) -> String {
        var result = ""
        var word = ""
        func flush() {
            result += names[word].map { "{{\($0)}}" } ?? word
            word = ""
        }
        for scalar in text.unicodeScalars {
            if Self.isInWord(scalar) {
                word.unicodeScalars.append(scalar)
            } else {
                flush()
                result.unicodeScalars.append(scalar)
            }
        }
        flush()
        return result
    }

    private static func words(of request: Request) -> [String] {
        var texts = [request.target, String(decoding: request.body, as: UTF8.self)]
        texts += request.fields.map(\.value)
        // A claim may repeat a value from an answer, such as the nonce of a challenge.
        texts += PresentedTokens.of(request).compactMap(claims(of:))
        return texts.flatMap { text in
            text.unicodeScalars.split { !isInWord($0) }.map { String($0) }.filter { $0.utf8.count >= shortest }
        }
    }

    private static func claims(of token: String) -> String? {
        CompactToken(token, limits: CompactToken.Limits(bytes: .max), encoding: .lenient).claims.map {
            JSON.object($0).text
        }
    }

    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
        default: false
        }
    }
}
