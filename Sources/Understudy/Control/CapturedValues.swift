import Emulation
import JSON
import Tokens
import Wire

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
