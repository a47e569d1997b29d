import ArgumentParser
import Emulation
import JSON
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `understudy token`
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Makes, explains and verifies tokens.",
        subcommands: [TokenMintCommand.self, TokenExplainCommand.self, TokenVerifyCommand.self])
}

/// Options in the form NAME=VALUE.
enum NamedValue {
    /// Splits at the first `=`.
    static func parse(_ text: String, option: String) throws -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw Misuse("\(option) \(text) is not of the form NAME=VALUE.")
        }
        return (parts[0], parts[1])
    }

    /// The values as members: JSON if they parse as such, otherwise strings.
    static func members(_ texts: [String], option: String) throws -> JSONObject {
        var members = JSONObject()
        for text in texts {
            let (name, value) = try parse(text, option: option)
            // A value that is not JSON is a string.
            members[name] = (try? JSON.parse(value.utf8)) ?? .string(value)
        }
        return members
    }
}

/// A token given as an argument, or on standard input.
enum TokenInput {
    /// Reads the argument; `-` or none means standard input. Drops surrounding whitespace and a leading `Bearer`.
    static func read(_ argument: String?) throws -> String {
        let text = argument == nil || argument == "-" ? try standardInput() : argument ?? ""
        let trimmed = text.withoutOuterBlanks
        if trimmed.isEmpty { throw Misuse("no token: the argument or standard input is empty.") }
        let prefix = "bearer "
        return trimmed.lowercased().hasPrefix(prefix) ? String(trimmed.dropFirst(prefix.count)) : trimmed
    }

    private static func standardInput() throws -> String {
        if isatty(STDIN_FILENO) == 1 { throw Misuse("no token: give it as an argument or on standard input.") }
        return String(decoding: try standardInputBytes(), as: UTF8.self)
    }

    /// The bytes of standard input without the final line break, which any program that prints a token adds.
    static func standardInputLine() throws -> [UInt8] {
        var bytes = try standardInputBytes()
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast(bytes.suffix(2).first == UInt8(ascii: "\r") ? 2 : 1) }
        return bytes
    }

    private static func standardInputBytes() throws -> [UInt8] {
        do {
            return try Files.content(ofDescriptor: STDIN_FILENO)
        } catch {
            throw Misuse("standard input cannot be read: \(error)")
        }
    }
}

extension String {
    /// The text without surrounding whitespace and line breaks.
    var withoutOuterBlanks: String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        return String(
            String.UnicodeScalarView(
                unicodeScalars.drop(while: isBlank).reversed().drop(while: isBlank).reversed()))
    }
}

/// The time that a command uses for its checks.
enum MomentOption {
    static func parse(_ text: String?) throws -> Moment {
        guard let text else { return SandboxClock.machine }
        guard let moment = Moment(text: text) else {
            throw Misuse("--at \(text) is not a time (Unix seconds, or RFC 3339 such as 2027-01-15T08:00:00Z).")
        }
        return moment
    }
}
