import JSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension HurlReader {
    /// The body of a request or response, if one follows.
    mutating func body() throws(HurlProblem) -> HurlBody? {
        let start = position
        _ = skipLines()
        let place = place
        guard let content = try content() else {
            position = start
            return nil
        }
        try endLine()
        return HurlBody(place: place, content: content)
    }

    private mutating func content() throws(HurlProblem) -> HurlBody.Content? {
        if begins(with: "```") { return try multiline() }
        if begins(with: "`") { return .text(try oneline(), language: nil) }
        if let bytes = try bytes() { return .bytes(bytes) }
        if begins(with: "file,") { throw unexpected("files as content are not supported; write the content here") }
        if begins(with: "<") { throw unexpected("put XML in a multiline string, between ```xml and ```") }
        guard beginsJSON else { return nil }
        return .json(try json())
    }

    /// Text between triple backquotes. The opening line may name a language and is not part of the text.
    private mutating func multiline() throws(HurlProblem) -> HurlBody.Content {
        let start = position
        position += 3
        let language = take(while: { $0.properties.isAlphabetic })
        skipBlanks()
        guard take("\n") || take("\r\n") else {
            // The one-line form: everything is text.
            position = start + 3
            return .text(try text(untilBackquotesFrom: start, isStop: { $0 == "\n" }), language: nil)
        }
        guard ["", "json", "xml"].contains(language) else {
            throw unexpected("expected json, xml or nothing after the backquotes", at: start + 3)
        }
        return .text(
            try text(untilBackquotesFrom: start, isStop: { _ in false }), language: language.isEmpty ? nil : language)
    }

    private mutating func text(
        untilBackquotesFrom start: Int, isStop: (Unicode.Scalar) -> Bool
    ) throws(HurlProblem) -> HurlTemplate {
        let place = place
        var parts: [HurlTemplate.Part] = []
        while peek != nil, !begins(with: "```") {
            // One or two backquotes are text, so it is read in pieces.
            let piece = try template(escapes: nil) { $0 == "`" || isStop($0) }
            parts += piece.parts
            if begins(with: "```") { break }
            guard take("`") else { break }
            parts.append(.text("`"))
        }
        guard take("```") else { throw problem("the text that begins here has no ``` at its end", at: start) }
        return HurlTemplate(parts: parts, place: place)
    }

    /// Text between single backquotes, on one line.
    private mutating func oneline() throws(HurlProblem) -> HurlTemplate {
        let start = position
        position += 1
        let text = try template(escapes: "`#\\/bfnrt") { $0 == "`" || $0 == "\n" }
        guard take("`") else { throw problem("the text that begins here has no ` at its end", at: start) }
        return text
    }

    /// `base64,…;` or `hex,…;`, if one follows.
    mutating func bytes() throws(HurlProblem) -> [UInt8]? {
        let start = position
        let isBase64 = take("base64,")
        guard isBase64 || take("hex,") else { return nil }
        let content = take(while: { $0 != ";" }).unicodeScalars
        guard take(";") else { throw problem("the bytes that begin here have no “;” at their end", at: start) }
        guard let bytes = isBase64 ? Self.base64(content) : Self.hexadecimal(content) else {
            throw problem("found bytes that are no \(isBase64 ? "base64" : "pairs of hexadecimal digits")", at: start)
        }
        return bytes
    }

    private static func base64(_ content: String.UnicodeScalarView) -> [UInt8]? {
        let text = String(content.filter { !$0.properties.isWhitespace })
        // Hurl accepts missing padding.
        let padding = String(repeating: "=", count: text.hasSuffix("=") ? 0 : (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).map { [UInt8]($0) }
    }

    /// Blanks are allowed around the digits, not between them.
    private static func hexadecimal(_ content: String.UnicodeScalarView) -> [UInt8]? {
        let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
        let text = content.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        let digits = text.compactMap { $0.isASCII ? Character($0).hexDigitValue : nil }
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var beginsJSON: Bool {
        guard let next = peek else { return false }
        switch next {
        case "{", "[", "\"", "-", "0"..."9": return true
        default: return ["true", "false", "null"].contains { begins(with: $0) && ends(behind: $0) }
        }
    }

    private func ends(behind word: String) -> Bool {
        let end = position + word.unicodeScalars.count
        return end == scalars.count || !scalars[end].properties.isAlphabetic
    }

    /// A JSON value as written, with its variables.
    mutating func json() throws(HurlProblem) -> [HurlBody.JSONPart] {
        var draft = JSONDraft()
        var depth = 0
        repeat {
            guard let scalar = peek else { break }
            if begins(with: "{{") {
                draft.add(.value(try placeholder()), standIn: "0", at: position)
                continue
            }
            switch scalar {
            case "\"":
                try readString(into: &draft)
                continue
            case "{", "[": depth += 1
            case "}", "]": depth -= 1
            default: break
            }
            draft.add(scalar, at: position)
            position += 1
        } while depth > 0 || continuesWord(draft)
        try check(draft)
        return draft.finished
    }

    /// Whether a top-level number, `true`, `false` or `null` continues.
    private func continuesWord(_ draft: JSONDraft) -> Bool {
        guard let next = peek, draft.isWord else { return false }
        switch next {
        case "0"..."9", "a"..."z", "E", "+", "-", ".": return true
        default: return false
        }
    }

    private mutating func readString(into draft: inout JSONDraft) throws(HurlProblem) {
        let start = position
        draft.add("\"", at: position)
        position += 1
        while let scalar = peek, scalar != "\"", scalar != "\n" {
            if begins(with: "{{") {
                draft.add(.inString(try placeholder()), standIn: "x", at: position)
                continue
            }
            draft.add(scalar, at: position)
            position += 1
            // An escaped character cannot end the string.
            if scalar == "\\", let escaped = peek {
                draft.add(escaped, at: position)
                position += 1
            }
        }
        guard peek == "\"" else { throw problem("the string that begins here has no end on its line", at: start) }
        draft.add("\"", at: position)
        position += 1
    }

    /// Checks that it is JSON once every variable has a value.
    private func check(_ draft: JSONDraft) throws(HurlProblem) {
        do {
            _ = try JSON.parse(draft.probe)
        } catch {
            let offset = min(error.offset, draft.origins.count - 1)
            throw problem("found JSON in which \(error.reason)", at: offset < 0 ? position : draft.origins[offset])
        }
    }
}

/// JSON while it is read: its parts, and a probe with a stand-in for each variable to validate it.
private struct JSONDraft {
    private var parts: [HurlBody.JSONPart] = []
    private var text = ""
    private(set) var probe: [UInt8] = []
    /// For each byte of the probe, its position in the file.
    private(set) var origins: [Int] = []

    /// Whether the text so far is neither a string, an array nor an object.
    var isWord: Bool {
        guard let first = probe.first else { return false }
        return first != UInt8(ascii: "\"") && first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
    }

    var finished: [HurlBody.JSONPart] { text.isEmpty ? parts : parts + [.text(text)] }

    mutating func add(_ scalar: Unicode.Scalar, at position: Int) {
        text.unicodeScalars.append(scalar)
        append(String(scalar), position)
    }

    mutating func add(_ variable: HurlBody.JSONPart, standIn: String, at position: Int) {
        if !text.isEmpty { parts.append(.text(text)) }
        parts.append(variable)
        text = ""
        append(standIn, position)
    }

    private mutating func append(_ piece: String, _ position: Int) {
        probe += piece.utf8
        origins += repeatElement(position, count: piece.utf8.count)
    }
}
