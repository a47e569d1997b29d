import Expectations
import Foundation
import Support
import Testing

/// Checks the sources against the table of allowed imports and other structural rules.
@Suite("The structure of the house") struct StructureTests {
    /// Modules that come with the compiler; allowed everywhere, except those that a test below forbids.
    private static let toolchain: Set<String> = [
        "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Synchronization",
    ]

    private static let values: Set<String> = ["JSON", "Wire", "HTTPTypes"]

    /// The imports allowed for each target besides the toolchain's modules; users of `Wire` also need the types
    /// it is made of.
    private static func allowed(_ target: String) -> Set<String>? {
        switch target {
        case "JSON", "CEmbedded", "CEpoll", "COpenSSL": []
        case "Wire": ["JSON", "HTTPTypes"]
        case "HTTPEngine": ["Wire", "HTTPTypes", "COpenSSL", "CEpoll", "CKqueue"]
        case "Tokens": ["JSON", "COpenSSL"]
        case "Contracts": ["JSON", "HTTPTypes"]
        case "Emulation": values.union(["Tokens", "CYaml", "Logging"])
        case "Understudy":
            values.union(["Tokens", "HTTPEngine", "Emulation", "CEmbedded", "CSQLite", "Fixtures", "Logging"])
                .union(vendorFolders)
        case "UnderstudyTesting":
            values.union(["Tokens", "HTTPEngine", "Emulation", "Fixtures", "Understudy", "Testing", "XCTest"])
        case "UnderstudyCLI":
            values.union([
                "Tokens", "HTTPEngine", "Emulation", "Contracts", "Fixtures", "Understudy", "ArgumentParser",
                "Logging",
            ])
        case let library where libraries[library] != nil: ["JSON", "Tokens", "Emulation"]
        case let vendor where vendorFolders.contains(vendor):
            values.union(["Tokens", "Emulation"]).union(libraries.filter { $0.value == vendor }.keys)
        default: nil
        }
    }

    /// A source file: its path in the repository, its text, and the modules that it imports.
    struct Source: Sendable {
        let path: String
        let text: String
        let imports: [String]

        init(path: String, text: String) {
            self.path = path
            self.text = text
            imports = text.split(separator: "\n").compactMap(Self.module)
        }

        var target: String {
            let folders = path.split(separator: "/").map(String.init)
            return folders[1] == "Vendors" ? folders[2] : folders[1]
        }

        /// The numbers of the lines that declare something public.
        var publicLines: [Int] {
            text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().filter { _, line in
                // Only few lines are worth splitting.
                guard line.contains("public ") else { return false }
                let words = line.split(separator: " ").drop { $0.hasPrefix("@") || Self.prefixes.contains($0) }
                return words.first == "public" && !words.contains("import")
            }.map { $0.offset + 1 }
        }

        private static let prefixes: Set<Substring> = [
            "static", "final", "mutating", "indirect", "override", "convenience", "nonisolated",
        ]
        private static let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
        private static let kinds: Set<Substring> = [
            "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
        ]

        /// The module that a line imports; a regular expression would take a hundred times as long.
        private static func module(_ line: Substring) -> String? {
            guard line.contains("import ") else { return nil }
            let words = line.split(separator: " ").drop { modifiers.contains($0) || $0.hasPrefix("@") }
            guard words.first == "import" else { return nil }
            return words.dropFirst().drop { kinds.contains($0) }.first.map { String($0.prefix { $0 != "." }) }
        }
    }

    /// The libraries that apps may use without a server, each with the vendor that it belongs to.
    private static let libraries = ["OktaValidator": "Okta"]
    private static let vendorFolders = Set(folders(in: "Sources/Vendors")).subtracting(libraries.keys)
    /// Clients for test suites are packages of their own, which live in other people's test processes.
    private static let clientFolder = "Sources/Clients/"
    private static let sources =
        swiftFiles(below: "Sources").filter { !$0.path.hasPrefix(clientFolder) } + swiftFiles(below: "Fixtures")

    private static func folders(in path: String) -> [String] {
        let full = Repository.root + "/" + path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: full)) ?? []
        return names.filter { name in
            var isFolder = ObjCBool(false)
            return FileManager.default.fileExists(atPath: full + "/" + name, isDirectory: &isFolder)
                && isFolder.boolValue
        }
    }

    private static func swiftFiles(below path: String) -> [Source] {
        let names = FileManager.default.enumerator(atPath: Repository.root + "/" + path)?.compactMap { $0 as? String }
        return (names ?? []).filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
            let text = try? String(contentsOfFile: "\(Repository.root)/\(path)/\(name)", encoding: .utf8)
            return text.map { Source(path: path + "/" + name, text: $0) }
        }
    }

    @Test("the sources are found at all") func found() {
        #expect(Set(Self.folders(in: "Sources")).isSuperset(of: ["JSON", "Wire", "Tokens", "Emulation", "Vendors"]))
        #expect(Self.vendorFolders.contains("Rezolve"))
        #expect(Self.sources.count > 100)
        expect(
            Self.sources.first { $0.path == "Sources/Understudy/Catalog.swift" }?.imports.contains("Rezolve"), is: true)
    }

    @Test(
        "an import is recognised in every form",
        arguments: [
            ("import A", ["A"]), ("  public import A", ["A"]), ("@testable import A", ["A"]),
            ("internal import struct A.B", ["A"]),
            ("@preconcurrency public import A // why", ["A"]), ("// import A", []), ("let text = \"import A\"", []),
            ("important A", []),
        ])
    func importForms(_ line: String, _ modules: [String]) {
        expect(Source(path: "Sources/X/x.swift", text: line).imports, is: modules)
    }

    @Test("what a vendor answers is JSON or text by its label, or a client's content that no browser takes for a page")
    func contentTypes() {
        for source in Self.sources where source.path.hasPrefix("Sources/Vendors/") {
            for line in source.text.split(separator: "\n") where line.contains(".contentType] = ") {
                #expect(line.contains("\"application/json"), "\(source.path) labels an answer itself; decision 0013")
            }
            #expect(!source.text.contains("Response(status:"), "\(source.path) makes an answer itself; decision 0013")
        }
    }

    @Test("every target imports what the table allows and nothing else") func imports() {
        for source in Self.sources where source.path.hasPrefix("Sources/") {
            guard let allowed = Self.allowed(source.target) else {
                Issue.record("\(source.path): the table has no target \(source.target)")
                continue
            }
            for module in source.imports where !allowed.contains(module) && !Self.toolchain.contains(module) {
                Issue.record("\(source.path) imports \(module)")
            }
        }
    }

    /// Errors that carry their text in a member and never appear inside another text.
    private static let errorsWithText: Set<String> = [
        "AnswerIsNo", "ContractFailure", "ControlProblem", "Fault", "Refusal", "RequestRejection", "WebSocketFailure",
    ]

    @Test("every error says in people's words what is wrong, so that no text shows the name of a case")
    func errorsInWords() {
        let texts = Self.sources.filter { $0.path.hasPrefix("Sources/") }
        var (declared, described): (Set<String>, Set<String>) = ([], [])
        for source in texts {
            for match in source.text.matches(of: /(?:struct|enum|class) (\w+)(?:<[^>]*>)?: ([^{]*)\{/)
            where match.2.contains(/\bError\b/) {
                declared.insert("\(source.target) \(match.1)")
                if match.2.contains("CustomStringConvertible") { described.insert("\(source.target) \(match.1)") }
            }
            for match in source.text.matches(of: /extension (?:\w+\.)*(\w+): [^{]*CustomStringConvertible/) {
                described.insert("\(source.target) \(match.1)")
            }
        }
        #expect(declared.count > 20)
        let silent = declared.subtracting(described).filter { error in
            !Self.errorsWithText.contains { error.hasSuffix(" \($0)") }
        }
        expect(silent, is: [])
    }

    @Test("nobody imports FoundationNetworking, whose linking alone costs start time and memory")
    func noNetworking() { expect(Self.sources.filter { $0.text.contains("FoundationNetworking") }.map(\.path), is: []) }

    @Test("the client for test suites needs nothing that a simulator's test process does not have")
    func clientImports() {
        let client = Self.swiftFiles(below: Self.clientFolder + "Swift/Sources")
        #expect(client.count > 5)
        for source in client {
            let foreign = Set(source.imports).subtracting(["Foundation", "FoundationNetworking"])
            expect(foreign, is: [], "\(source.path)")
        }
    }

    @Test("FoundationEssentials is imported only where it exists as a module of its own") func essentials() {
        for source in Self.sources where source.imports.contains("FoundationEssentials") {
            #expect(source.text.contains("#if canImport(FoundationEssentials)"), "\(source.path)")
        }
    }

    /// Targets that nobody outside the package sees and no request is specialized across.
    private static let closedTargets = vendorFolders.union(["Contracts", "Understudy", "UnderstudyCLI"])

    @Test("what only our own targets use is not public; decision 0022") func nothingPublicInside() {
        for source in Self.sources where Self.closedTargets.contains(source.target) {
            expect(source.publicLines, is: [], "\(source.path)")
        }
    }

    @Test(
        "a public declaration is recognised with its attributes and modifiers",
        arguments: [
            ("/// It.\npublic struct A {", [2]), ("/// It.\n@discardableResult\npublic static func a() {", [3]),
            ("    @x public private(set) var a = 1", [1]), ("// It.\npublic init(a: Int) {", [2]),
            ("static public let a = 1", [1]), ("public import A", []), ("var public = 1", []),
            ("public(set) var a = 1", []), ("    let a = \"public let b\"", []), ("// public let a = 1", []),
        ])
    func publicForms(_ text: String, _ lines: [Int]) {
        expect(Source(path: "Sources/X/x.swift", text: text).publicLines, is: lines)
    }

    @Test("no vendor names another vendor") func vendorsApart() {
        for source in Self.sources where source.path.hasPrefix("Sources/Vendors/") {
            let own = Self.libraries[source.target] ?? source.target
            for other in Self.vendorFolders where other != own {
                #expect(!Self.names(other, in: source.text), "\(source.path) names \(other)")
            }
        }
    }

    /// Command help may name a vendor in an example, since examples are meant to be pasted.
    @Test("outside its folder a vendor is named by the catalog and by examples of commands alone")
    func vendorsNowhereElse() {
        for source in Self.sources
        where !source.path.hasPrefix("Sources/Vendors/") && source.path != "Sources/Understudy/Catalog.swift" {
            let lines = source.text.split(separator: "\n").filter { !$0.contains("Example: understudy ") }
            for vendor in Self.vendorFolders {
                #expect(!Self.names(vendor, in: lines.joined(separator: "\n")), "\(source.path) names \(vendor)")
            }
        }
    }

    /// Whether a text contains the name as a separate word or at the start of a type's name.
    private static func names(_ vendor: String, in text: String) -> Bool {
        let word = vendor.uppercased() == vendor ? vendor : vendor.lowercased()
        let text = vendor.uppercased() == vendor ? text : text.lowercased()
        return text.split { !$0.isLetter && !$0.isNumber }.contains { $0.hasPrefix(word) }
    }

    @Test("every vendor has its fixtures and its tests") func vendorFolders() {
        for vendor in Self.vendorFolders {
            #expect(Self.folders(in: "Fixtures").contains(vendor.lowercased()), "\(vendor)")
            #expect(Self.folders(in: "Tests").contains(vendor + "Tests"), "\(vendor)")
            // What `init` writes of it.
            let path = "\(Repository.root)/Fixtures/\(vendor.lowercased())/starter/first-test.yaml"
            #expect(FileManager.default.fileExists(atPath: path), "\(path)")
        }
        for library in Self.libraries.keys {
            #expect(Self.folders(in: "Tests").contains(library + "Tests"), "\(library)")
        }
    }

    /// The packages that the manifest may name; a new one must be decided and justified with the other dependencies.
    private static let packages: Set<String> = ["swift-argument-parser", "swift-http-types", "swift-log", "yams"]

    /// A range, since an exact version would keep an app with another one from resolving.
    @Test("the manifest names the kept packages, each from a version on, and no other") func manifest() throws {
        let manifest = try String(contentsOfFile: Repository.root + "/Package.swift", encoding: .utf8)
        let lines = manifest.split(separator: "\n").filter { $0.contains(".package(") }
        let names = lines.compactMap {
            $0.firstMatch(of: /url: "[^"]*\/([^"\/]+?)(?:\.git)?"/).map { $0.1.lowercased() }
        }
        expect(Set(names), is: Self.packages)
        expect(names.count, is: lines.count)
        for line in lines { #expect(line.contains(", from: \""), "\(line)") }
    }

    /// The packages that were actually resolved, read from next to the running test, for any scratch path.
    @Test("no resolved package is SwiftNIO, or anything else that was not chosen") func resolved() throws {
        let file = try #require(
            Self.resolutions.first { FileManager.default.fileExists(atPath: $0) }, "nothing says what was resolved")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let names = Set(text.matches(of: /"identity"\s*:\s*"([^"]+)"/).map { String($0.1) })
        #expect(names.isSuperset(of: Self.packages), "\(file) lists \(names)")
        expect(names.subtracting(Self.packages), is: [], "a scratch folder keeps what has gone: swift package reset")
        #expect(!text.contains("swift-nio"))
    }

    /// Every scratch folder has a `workspace-state.json`; the test binary is two or more folders below it.
    private static var resolutions: [String] {
        var folders: [String] = []
        for start in [CommandLine.arguments.first ?? "", Bundle.main.bundlePath, Bundle(for: Anchor.self).bundlePath] {
            var url = URL(filePath: start).resolvingSymlinksInPath()
            while url.path.count > 1 {
                folders.append(url.path)
                url.deleteLastPathComponent()
            }
        }
        return folders.map { $0 + "/workspace-state.json" } + [Repository.root + "/Package.resolved"]
    }

    private final class Anchor {}
}
