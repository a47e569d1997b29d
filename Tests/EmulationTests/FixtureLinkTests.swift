import Foundation
import Support
import Testing

@testable import Emulation

/// Fixture layers with entries that are not files: a start must neither wait for them nor read anything outside.
@Suite("A folder of fixtures")
struct FixtureLinkTests {
    private let folder: TemporaryFolder
    private var layer: String { folder.path + "/layer" }
    private var store: FixtureStore { FixtureStore(layers: [layer]) }

    init() throws {
        folder = try TemporaryFolder([
            "layer/v/a.yaml": "kept", "outside.yaml": "secret", "elsewhere/b.yaml": "secret",
        ])
        try FileManager.default.createDirectory(atPath: layer + "/v/sub", withIntermediateDirectories: false)
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: layer + "/" + path, withDestinationPath: target)
    }

    private func problem(_ work: () throws(FixtureProblem) -> some Any) -> String? {
        do {
            _ = try work()
            return nil
        } catch {
            return "\(error)".replacing(folder.path, with: "HERE").replacing("/private", with: "")
        }
    }

    @Test("follows links that stay in it: a mounted folder may consist of them")
    func inside() throws {
        try link("v/b.yaml", to: "a.yaml")
        try link("v/c.yaml", to: layer + "/v/a.yaml")
        try link("w", to: "v")
        for path in ["v/b.yaml", "v/c.yaml", "w/a.yaml"] {
            #expect(try store.file(path).bytes == Array("kept".utf8), "\(path)")
        }
        #expect(try store.usage(of: layer).unread.contains("w/a.yaml"))
        // The layer itself may be a link.
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/linked", withDestinationPath: "layer")
        let linked = FixtureStore(layers: [folder.path + "/linked"])
        #expect(try linked.file("v/b.yaml").bytes == Array("kept".utf8))
    }

    @Test(
        "is not left through links: not by whole paths, by dots, through folders, or to devices",
        arguments: [
            ("v/x.yaml", "ABSOLUTE/outside.yaml", "v/x.yaml"), ("v/x.yaml", "../../outside.yaml", "v/x.yaml"),
            ("v/d", "../../elsewhere", "v/d/b.yaml"), ("v/x.yaml", "/etc/hostname", "v/x.yaml"),
        ])
    func outside(_ path: String, _ target: String, _ asked: String) throws {
        try link(path, to: target.replacing("ABSOLUTE", with: folder.path))
        let read = try #require(problem { () throws(FixtureProblem) in try store.file(asked) })
        #expect(read.hasPrefix("HERE/layer/\(asked): leads to "), "\(read)")
        #expect(read.hasSuffix(", outside the folder of fixtures HERE/layer; copy it there"), "\(read)")
        let counted = try #require(problem(store.checkEntries))
        #expect(counted.hasPrefix("HERE/layer/\(path): leads to "), "\(counted)")
    }

    @Test("never opens what is no file, and says what it is", .timeLimit(.minutes(1)))
    func noFiles() throws {
        #expect(mkfifo(layer + "/v/pipe.yaml", 0o600) == 0)
        try link("w.yaml", to: "/dev/zero")
        try link("gone.yaml", to: "nothing")
        try link("loop.yaml", to: "loop.yaml")
        let sentences = [
            ("v/pipe.yaml", "is a named pipe; expected a file"), ("w.yaml", "is a device; expected a file"),
            ("gone.yaml", "is a link to nothing, where there is nothing"), ("v/sub", "is a folder; expected a file"),
            ("loop.yaml", "is a loop of links; expected a file"),
        ]
        for (path, sentence) in sentences {
            let found = problem { () throws(FixtureProblem) in try store.file(path) }
            #expect(found == "HERE/layer/\(path): \(sentence)")
        }
        #expect(problem(store.checkEntries) == "HERE/layer/gone.yaml: is a link to nothing, where there is nothing")
    }

    @Test("in which links lead round and round ends with a sentence", .timeLimit(.minutes(1)))
    func loops() throws {
        for name in ["one", "two", "three"] { try link("v/sub/" + name, to: "..") }
        let sentence = "HERE/layer/v/sub/one: is a link to HERE/layer/v, which contains the link itself: a loop"
        #expect(problem(store.checkEntries) == sentence)
        #expect(problem { () throws(FixtureProblem) in try store.usage(of: layer) } == sentence)
        let stamps = store.stamps
        #expect(stamps == store.stamps)
        try FileManager.default.removeItem(atPath: layer + "/v/sub")
        #expect(stamps != store.stamps, "a watch sees that the loop is gone")
    }

    @Test("with too many files, too deep folders or too long a file says how much there may be")
    func bounds() throws {
        for number in 0...FixtureWalk.mostEntries {
            #expect(FileManager.default.createFile(atPath: "\(layer)/v/sub/\(number)", contents: nil))
        }
        let many = try #require(problem(store.checkEntries))
        #expect(many.hasPrefix("HERE/layer/v/sub: the fixtures hold more than 4096 files and folders up to here"))
        try FileManager.default.removeItem(atPath: layer + "/v/sub")

        let deep = layer + "/v" + String(repeating: "/d", count: FixtureWalk.mostFolders)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let sentence = try #require(problem(store.checkEntries))
        #expect(sentence.hasSuffix("/d/d: is more than 32 folders deep"), "\(sentence)")

        try folder.write("", to: "layer/v/long.yaml")
        #expect(truncate(layer + "/v/long.yaml", 1 << 40) == 0)
        let long = problem { () throws(FixtureProblem) in try store.file("v/long.yaml") }
        #expect(long == "HERE/layer/v/long.yaml: has 1099511627776 bytes; a fixture file may have 16777216")
    }
}
