import Emulation
import Understudy

/// A file that is part of the program, in which `{{NAME}}` stands for a value.
struct StarterTemplate: Sendable {
    private let bytes: [UInt8]

    static let configuration = StarterTemplate(bytes: PackageResources.understudy_yaml)
    static let compose = StarterTemplate(bytes: PackageResources.compose_yaml)
    static let swiftPackage = StarterTemplate(bytes: PackageResources.Package_swift_txt)
    static let swiftTest = StarterTemplate(bytes: PackageResources.FirstCallTests_swift_txt)
    static let pythonRequirements = StarterTemplate(bytes: PackageResources.requirements_txt)
    static let pythonOptions = StarterTemplate(bytes: PackageResources.conftest_py_txt)
    static let pythonTest = StarterTemplate(bytes: PackageResources.test_first_call_py_txt)
    static let javaScriptPackage = StarterTemplate(bytes: PackageResources.package_json)
    static let javaScriptTest = StarterTemplate(bytes: PackageResources.first_call_test_mjs_txt)

    /// The file as it is written.
    ///
    /// A value of several lines has its first line's indentation in all; a line that a value leaves empty goes.
    func file(at path: String, with values: [String: String] = [:]) -> Starter.File {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.flatMap { Self.filled($0, values) }.joined(separator: "\n")
        return (path, Array(text.utf8))
    }

    private static func filled(_ line: Substring, _ values: [String: String]) -> [String] {
        guard line.firstRange(of: "{{") != nil else { return [String(line)] }
        let text = values.reduce(String(line)) { $0.replacing("{{\($1.key)}}", with: $1.value) }
        if text.allSatisfy({ $0 == " " }) { return [] }
        let indentation = String(text.prefix { $0 == " " })
        let parts = text.split(separator: "\n").map(String.init)
        return parts.prefix(1) + parts.dropFirst().map { indentation + $0 }
    }

    /// The schema of the configuration, with what its comments say of each option.
    static var configurationSchema: EditorSchema {
        var options: [(name: String, about: String)] = []
        var comment: [Substring] = []
        for line in String(decoding: configuration.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            let text = line.drop { $0 == "#" || $0 == " " }
            let name = text.prefix { $0 != ":" }
            if OptionSources.names.contains(String(name)) {
                options.append((String(name), comment.joined(separator: " ")))
            }
            comment = line.hasPrefix("# ") ? comment + [text] : []
        }
        return .configuration(options: options)
    }
}
