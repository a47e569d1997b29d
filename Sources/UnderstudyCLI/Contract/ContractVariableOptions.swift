import Contracts
import JSON
import Understudy

/// Variables from flags and files in Hurl's form, `NAME=VALUE`: `true`, `null`, `42` and `1.5` keep their type unless
/// quoted. A backslash between quotes is literal.
enum ContractVariableOptions {
    /// The variables; flags override the file.
    static func variables(_ flags: [String], file: String?) throws -> ContractVariables {
        var variables = ContractVariables()
        if let file {
            let bytes = try Files.read(file, "the file of variables")
            // By bytes: as a `Character`, “\r\n” is not “\n”.
            for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .enumerated()
            {
                let line = String(decoding: line, as: UTF8.self).withoutOuterBlanks
                guard !line.isEmpty, line.utf8.first != UInt8(ascii: "#") else { continue }
                try set(line, in: &variables, from: "\(file):\(index + 1):")
            }
        }
        for flag in flags { try set(flag, in: &variables, from: "--variable") }
        return variables
    }

    private static func set(_ text: String, in variables: inout ContractVariables, from source: String) throws {
        let (name, value) = try NamedValue.parse(text, option: source)
        guard HurlVariable.isName(name) else {
            throw Misuse(
                "\(source) \(name) cannot stand between {{ and }}; a name is a letter, then letters, digits, “_” and “-”."
            )
        }
        guard let typed = typed(value) else {
            throw Misuse("\(source) the value of \(name) begins with a quote and does not end with one.")
        }
        variables[name] = typed
    }

    /// The value of a text; `nil` if a quote is missing.
    private static func typed(_ text: String) -> JSON? {
        if text.utf8.first == UInt8(ascii: "\"") {
            guard text.utf8.count > 1, text.utf8.last == UInt8(ascii: "\"") else { return nil }
            return .string(String(text.unicodeScalars.dropFirst().dropLast()))
        }
        // Anything that is not JSON is a string, and so are JSON's arrays and objects.
        guard let value = try? JSON.parse(text.utf8), value.array == nil, value.object == nil else {
            return .string(text)
        }
        return value
    }
}
