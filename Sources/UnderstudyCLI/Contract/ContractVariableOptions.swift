import Contracts
import JSON

/// Variables from flags and files, in Hurl's form: `NAME=VALUE`, where `true`, `null`, `42` and `1.5` are no strings
/// unless they stand in quotes.
enum ContractVariableOptions {
    /// The variables; a flag goes before the file.
    static func variables(_ flags: [String], file: String?) throws -> ContractVariables {
        var variables = ContractVariables()
        if let file {
            let text = String(decoding: try FileText.read(file, "the file of variables"), as: UTF8.self)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let line = line.hasSuffix("\r") ? line.dropLast() : line
                guard !line.allSatisfy(\.isWhitespace), !line.hasPrefix("#") else { continue }
                try set(String(line), in: &variables, from: "\(file):\(index + 1):")
            }
        }
        for flag in flags { try set(flag, in: &variables, from: "--variable") }
        return variables
    }

    private static func set(_ text: String, in variables: inout ContractVariables, from source: String) throws {
        let (name, value) = try NamedValue.parse(text, option: source)
        variables[name] = typed(value)
    }

    private static func typed(_ text: String) -> JSON {
        // What is no JSON is a string, and so is all that JSON writes in brackets.
        guard let value = try? JSON.parse(text.utf8), value.array == nil, value.object == nil else {
            return .string(text)
        }
        return value
    }
}
