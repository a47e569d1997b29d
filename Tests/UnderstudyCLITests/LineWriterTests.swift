import Dispatch
import Testing

@testable import UnderstudyCLI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite("The queue of log lines")
struct LineWriterTests {
    @Test("takes lines up to its limit, and drops those beyond", arguments: [(0, 0), (1, 1)])
    func limit(_ excess: Int, _ dropped: Int) {
        let nowhere = open("/dev/null", O_WRONLY)
        defer { close(nowhere) }
        let writer = LineWriter(nowhere) { "\($0) lines were dropped.\n" }
        writer.write(String(repeating: "x", count: LineWriter.mostBytes + excess - 1) + "\n")
        #expect(writer.droppedLines == dropped)
        writer.finish(by: .now() + .seconds(60))
    }

    @Test("a notice stands where lines were dropped, even for one", arguments: [1, 2])
    func notice(_ dropped: Int) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        var output = LineOutput(descriptor: ends[1])
        #expect(output.write(Array("first\n".utf8)) { "\($0) dropped" } == 0)
        output.tell(ofDropped: dropped) { "\($0) dropped" }
        #expect(output.write(Array("last\n".utf8)) { "\($0) dropped" } == 0)
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = read(ends[0], &bytes, bytes.count)
        #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "first\n\(dropped) dropped\nlast\n")
    }
}
