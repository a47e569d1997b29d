import HTTPTypes
import Tokens
import Wire

/// Reads a curl command as browsers, proxies and Android's tools copy it.
enum CurlReading {
    /// Options without a value that change nothing about the request; the letters may stand together.
    private static let ignored: Set<String> = [
        "--compressed", "--insecure", "--location", "--silent", "--show-error", "--include", "--verbose", "--globoff",
        "--http1.1", "--http2", "--http3", "--fail", "--path-as-is", "--no-progress-meter", "-k", "-L", "-s", "-S",
        "-i", "-v", "-g", "-f", "-N", "-#", "-0", "-1", "-4", "-6",
    ]
    /// Options with a value that change nothing about the request.
    private static let ignoredWithValue: Set<String> = [
        "--output", "-o", "--max-time", "-m", "--connect-timeout", "--proxy", "-x", "--resolve", "--write-out", "-w",
        "--retry", "--cacert", "--cert", "-E", "--key", "--dump-header", "-D", "--cookie-jar", "-c", "--connect-to",
    ]
    private static let named = [
        "--request": "-X", "--header": "-H", "--cookie": "-b", "--user": "-u", "--user-agent": "-A", "--referer": "-e",
        "--get": "-G", "--head": "-I", "--data": "-d", "--data-raw": "-d", "--data-ascii": "-d", "--data-binary": "-d",
    ]

    private struct Reading {
        var method: String?
        var url: String?
        var fields: [(String, String)] = []
        var data: [String] = []
        var isQuery = false

        mutating func addUnlessSet(_ name: String, _ value: String) {
            if !fields.contains(where: { $0.0.lowercased() == name }) { fields.append((name, value)) }
        }
    }

    static func call(in text: String) throws(RecordingProblem) -> RecordedCall {
        var shell = ShellWords(text)
        let words = try shell.all()
        var (reading, rest) = (Reading(), words[...].dropFirst())
        while let word = rest.popFirst() {
            guard word.hasPrefix("-"), word != "-" else {
                try RecordingProblem.require(
                    reading.url == nil, "it has two URLs, the second at word \(rest.startIndex); expected one")
                reading.url = word
                continue
            }
            // The shell's words count from 1.
            let place = rest.startIndex
            for (option, attached) in options(word) where !ignored.contains(option) {
                let isFlag = option == "-G" || option == "-I"
                let value = try RecordingProblem.require(
                    isFlag ? "" : attached ?? rest.popFirst(), "\(option) at word \(place) has no value")
                try take(option, value, &reading, at: place)
            }
        }
        guard var url = reading.url else { throw RecordingProblem("there is no URL") }
        let data = reading.data.joined(separator: "&")
        if reading.isQuery, !data.isEmpty { url += (url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + data }
        let hasBody = !reading.data.isEmpty && !reading.isQuery
        if hasBody { reading.addUnlessSet("content-type", "application/x-www-form-urlencoded") }
        return try RecordedCall(
            reading.method ?? (hasBody ? "POST" : "GET"), url, reading.fields, body: hasBody ? Array(data.utf8) : [],
            at: "the curl command")
    }

    /// The options of a word: `-sSL` is three, and `-XPOST` is one with its value.
    private static func options(_ word: String) -> [(option: String, attached: String?)] {
        guard !word.hasPrefix("--") else { return [(named[word] ?? word, nil)] }
        var (options, rest): ([(String, String?)], Substring) = ([], word.dropFirst())
        while let letter = rest.popFirst() {
            let option = "-\(letter)"
            let isFlag = ignored.contains(option) || option == "-G" || option == "-I"
            options.append((option, isFlag || rest.isEmpty ? nil : String(rest)))
            if !isFlag { break }
        }
        return options
    }

    private static func take(
        _ option: String, _ value: String, _ reading: inout Reading, at place: Int
    ) throws(RecordingProblem) {
        switch option {
        case "-X": reading.method = value
        case "-H":
            // “NAME;” is a field without a value, “NAME:” removes one that curl would add.
            let field = value.last == ";" ? (String(value.dropLast()), "") : RecordedCall.field(value[...])
            guard let field else {
                throw RecordingProblem("-H at word \(place) is not a field: found no “NAME: VALUE”")
            }
            reading.fields.append(field)
        case "-b": reading.fields.append(("cookie", value))
        case "-u": reading.fields.append(("authorization", "Basic \(Base64.encode(Array(value.utf8)))"))
        case "-A": reading.fields.append(("user-agent", value))
        case "-e": reading.fields.append(("referer", value))
        case "-G": reading.isQuery = true
        case "-I": reading.method = "HEAD"
        case "--url": reading.url = value
        case "--json":
            reading.data.append(value)
            reading.addUnlessSet("content-type", "application/json")
        case "--data-urlencode":
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.count > 1 && !parts[0].isEmpty ? "\(parts[0])=" : ""
            let value = PercentEncoding.form([("", String(parts[parts.count - 1]))]).dropFirst()
            reading.data.append(name + value)
        case "-d":
            try RecordingProblem.require(
                !value.hasPrefix("@"),
                "the content at word \(place) is in the file \(value.dropFirst()); expected it in the command")
            reading.data.append(value)
        case "-F", "--form", "--form-string", "-T", "--upload-file":
            throw RecordingProblem(
                "\(option) at word \(place) sends a file or a multipart form, which is not taken; expected a HAR with that call"
            )
        case _ where ignoredWithValue.contains(option): break
        default:
            throw RecordingProblem(
                "\(option) at word \(place) is not an option that is understood; leave it out if it does not change the request"
            )
        }
    }
}

/// The words of a POSIX shell command, with Bash's `$'…'`.
private struct ShellWords {
    private var rest: Substring
    private var line = 1

    init(_ text: String) { rest = text[...] }

    mutating func all() throws(RecordingProblem) -> [String] {
        var (words, word): ([String], String?) = ([], nil)
        while let character = next() {
            switch character {
            case "'", "\"": word = (word ?? "") + (try quoted(by: character))
            case "$" where rest.first == "'":
                _ = next()
                word = (word ?? "") + (try quoted(by: "'", isANSI: true))
            case "\\":
                // At the end of a line, it joins the next one.
                if let escaped = next(), !escaped.isNewline { word = (word ?? "") + String(escaped) }
            case "^" where rest.first?.isNewline == true || rest.first == "\"":
                throw RecordingProblem("line \(line) is quoted for Windows' cmd; expected “Copy as cURL (bash)”")
            case _ where character.isWhitespace:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    private mutating func next() -> Character? {
        let character = rest.popFirst()
        if character?.isNewline == true { line += 1 }
        return character
    }

    /// What follows an opening quote, up to the closing one.
    private mutating func quoted(by quote: Character, isANSI: Bool = false) throws(RecordingProblem) -> String {
        let start = line
        var text = ""
        while let character = next() {
            if character == quote { return text }
            guard character == "\\", isANSI || quote == "\"", let escaped = next() else {
                text.append(character)
                continue
            }
            if isANSI {
                text += ansi(escaped)
            } else if !escaped.isNewline {
                text += "\"\\$`".contains(escaped) ? String(escaped) : "\\\(escaped)"
            }
        }
        throw RecordingProblem("the quote \(quote) that opens in line \(start) is not closed")
    }

    /// The text of an escape in `$'…'`; browsers write characters beyond ASCII as UTF-16.
    private mutating func ansi(_ letter: Character) -> String {
        switch letter {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "x": return scalar(digits(2))
        case "U": return scalar(digits(8))
        case "u":
            let unit = digits(4)
            guard (0xD800..<0xDC00).contains(unit), rest.hasPrefix("\\u") else { return scalar(unit) }
            rest = rest.dropFirst(2)
            return String(decoding: [UInt16(unit), UInt16(digits(4))], as: UTF16.self)
        default: return "\\'\"?".contains(letter) ? String(letter) : "\\\(letter)"
        }
    }

    private mutating func digits(_ count: Int) -> UInt32 {
        let digits = rest.prefix(count).prefix(while: \.isHexDigit)
        rest = rest.dropFirst(digits.count)
        return UInt32(digits, radix: 16) ?? 0
    }

    private func scalar(_ value: UInt32) -> String { Unicode.Scalar(value).map { String($0) } ?? "\u{FFFD}" }
}
