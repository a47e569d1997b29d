import Foundation
import Support
import Testing

/// macOS compiles lines that no Linux run covers; the page about macOS records what was read about each.
struct DarwinLinesTests {
    /// A line of a file.
    private struct Line: Hashable, CustomStringConvertible {
        let file: String
        let text: String

        var description: String { "\(file): \(text)" }
    }

    /// A condition that this test cannot classify as macOS-only or not.
    private struct UnknownCondition: Error {
        let text: String
    }

    @Test("each line that only macOS compiles is on the page that says what was read about it")
    func listedLines() throws {
        let page = "Sources/Understudy/Understudy.docc/macOS.md"
        let text = try String(contentsOfFile: Repository.root + "/" + page, encoding: .utf8)
        let rows = text.matches(of: /\| `([^`]*)` \| `([^`]*)` \|/)
        let listed = Set(rows.map { Line(file: String($0.1), text: String($0.2)) })
        let found = Set(try Self.files.flatMap(Self.darwinLines))
        #expect(found.subtracting(listed).map(\.description).sorted() == [], "read them, and list them in \(page)")
        #expect(listed.subtracting(found).map(\.description).sorted() == [], "no source has them any more")
        #expect(!found.isEmpty)
    }

    private static var files: [String] {
        ["Sources", "Fixtures"].flatMap { folder in
            (FileManager.default.enumerator(atPath: "\(Repository.root)/\(folder)")?.compactMap { $0 as? String } ?? [])
                .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
        }
    }

    /// The lines of branches that hold only on macOS, without imports and comments.
    private static func darwinLines(_ file: String) throws -> [Line] {
        let text = try String(contentsOfFile: Repository.root + "/" + file, encoding: .utf8)
        // For each open condition, whether its branch is macOS-only, and whether its `#else` is.
        var branches: [(isDarwin: Bool, elseIsDarwin: Bool)] = []
        var lines: [Line] = []
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if line.hasPrefix("#if ") {
                branches.append(try branch(line.dropFirst(4)))
            } else if line == "#else", let last = branches.popLast() {
                branches.append((last.elseIsDarwin, false))
            } else if line == "#endif" {
                branches.removeLast()
            } else if branches.contains(where: \.isDarwin), !line.contains("import "), !line.hasPrefix("//") {
                lines.append(Line(file: file, text: String(line)))
            }
        }
        return lines
    }

    /// Classifies a condition; one that also holds with `KQUEUE` is compiled and tested on Linux.
    private static func branch(_ condition: Substring) throws -> (isDarwin: Bool, elseIsDarwin: Bool) {
        switch condition {
        case "canImport(Darwin)", "os(macOS)": (true, false)
        case "!canImport(Darwin)", "os(Linux)", "canImport(Glibc)", "canImport(FoundationEssentials)",
            "canImport(FoundationNetworking)":
            (false, true)
        // Its `#else` is for simulators and devices.
        case "os(macOS) || os(Linux)": (false, true)
        case "canImport(Darwin) || KQUEUE", "KQUEUE", "!KQUEUE", "canImport(Testing)", "canImport(XCTest)",
            "compiler(>=6.3)":
            (false, false)
        default: throw UnknownCondition(text: String(condition))
        }
    }
}
