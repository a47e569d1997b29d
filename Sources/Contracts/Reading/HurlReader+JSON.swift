internal import JSON

extension HurlReader {
    var beginsJSON: Bool {
        guard let next = peek else { return false }
        switch next {
        case "{", "[", "\"", "-", "0"..."9": return true
        default: return ["true", "false", "null"].contains { begins(with: $0) && ends(behind: $0) }
        }
    }

    /// Whether the word that comes next does not continue.
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
            throw problem(
                "found JSON in which \(error.reason)", at: offset < 0 ? position : draft.origins[offset])
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
