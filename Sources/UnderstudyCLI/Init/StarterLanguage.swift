import Emulation

/// The languages that a first test can be written in: those that have a client.
enum StarterLanguage: String, CaseIterable {
    case swift, python, javascript

    static func named(_ name: String) throws(Misuse) -> StarterLanguage {
        if let language = StarterLanguage(rawValue: name) { return language }
        let known = allCases.map(\.rawValue)
        throw Misuse("there is no client for the language \(name)\(Nearest.hint(to: name, among: known))")
    }

    /// The folder of its client among the others.
    var clientFolder: String {
        switch self {
        case .swift: "Swift"
        case .python: "Python"
        case .javascript: "JavaScript"
        }
    }

    /// The files of a test, each with its template.
    var templates: [(path: String, template: StarterTemplate)] {
        switch self {
        case .swift:
            [
                ("tests/Package.swift", .swiftPackage),
                ("tests/Tests/FirstCallTests/FirstCallTests.swift", .swiftTest),
            ]
        case .python:
            [
                ("tests/requirements.txt", .pythonRequirements), ("tests/conftest.py", .pythonOptions),
                ("tests/test_first_call.py", .pythonTest),
            ]
        case .javascript:
            [("tests/package.json", .javaScriptPackage), ("tests/first-call.test.mjs", .javaScriptTest)]
        }
    }

    /// A text as a literal, in which `{token}` stands for the variable `token`.
    func literal(_ text: String) -> String {
        let parts = text.split(separator: "{token}", omittingEmptySubsequences: false).map(escaped)
        guard parts.count > 1 else { return "\"\(parts[0])\"" }
        switch self {
        case .swift: return "\"\(parts.joined(separator: "\\(token)"))\""
        case .python:
            let doubled = parts.map { $0.replacing("{", with: "{{").replacing("}", with: "}}") }
            return "f\"\(doubled.joined(separator: "{token}"))\""
        case .javascript:
            let plain = parts.map { $0.replacing("`", with: "\\`").replacing("${", with: "\\${") }
            return "`\(plain.joined(separator: "${token}"))`"
        }
    }

    private func escaped(_ text: Substring) -> String {
        String(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// A member of a mapping of header fields.
    func member(_ name: String, _ value: String) -> String {
        switch self {
        case .swift: "request.setValue(\(literal(value)), forHTTPHeaderField: \(literal(name)))"
        case .python, .javascript: "\(literal(name)): \(literal(value)),"
        }
    }

    /// The content of a request; nothing without any.
    func body(_ body: String?) -> String {
        guard let body else { return "" }
        switch self {
        case .swift: return "request.httpBody = Data(\(literal(body)).utf8)"
        case .python: return "data=\(literal(body)).encode(),"
        case .javascript: return "body: \(literal(body)),"
        }
    }
}
