import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("Its Swift is that of the tests", arguments: [("first test", "FirstTest"), ("XCTest", "ClassicTest")])
    func example(mark: String, file: String) throws {
        let readme = try String(
            contentsOf: Suite.root.appendingPathComponent("Sources/Clients/Swift/README.md"), encoding: .utf8)
        let parts = readme.components(separatedBy: "<!-- \(mark) -->\n```swift\n")
        let block = try #require(parts.last?.components(separatedBy: "```").first)
        #expect(parts.count == 2 && block.count > 100)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let source = try String(contentsOf: folder.appendingPathComponent("\(file).swift"), encoding: .utf8)
            .replacingOccurrences(of: "start(binary: Suite.binary)", with: "start()")
        #expect(source.hasSuffix(block))
    }
}
