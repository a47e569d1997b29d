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
}
