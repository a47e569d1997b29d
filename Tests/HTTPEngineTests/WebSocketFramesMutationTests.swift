import Mutations
import Testing
import Wire

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Feeds the frame reader randomly damaged frames, the same ones in every run.
@Suite struct WebSocketFramesMutationTests {
    /// The number of inputs, set by `UNDERSTUDY_FUZZ_INPUTS`.
    private static let inputCount = getenv("UNDERSTUDY_FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? 10_000

    @Test(arguments: 0..<8)
    func `Damaged frames come to the same, whatever the portions`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var tally: [Bool: Int] = [:]
        for number in 0..<max(1, Self.inputCount / 8) {
            let input = FrameMutation.input(&random)
            let limit = Bool.random(using: &random) ? 1024 : Int.random(in: 0...40, using: &random)
            let whole = WebSocketOutcome.read(input, portions: [.max], limit: limit)
            let single = WebSocketOutcome.read(input, portions: [1], limit: limit)
            let sizes = (0..<64).map { _ in Int.random(in: 1...40, using: &random) }
            let portions = WebSocketOutcome.read(input, portions: sizes, limit: limit)
            guard whole == single, whole == portions, isSound(whole, limit) else {
                Issue.record("seed \(seed), input \(number): \(input): \(whole) / \(single) / \(portions)")
                return
            }
            for outcome in whole { tally[outcome.isFailure, default: 0] += 1 }
        }
        // If all or none of the inputs failed, this would test nothing.
        #expect(tally[true, default: 0] > Self.inputCount / 80)
        #expect(tally[false, default: 0] > Self.inputCount / 80)
    }

    /// Whether no outcome before the last ends the connection, and handlers may see all of them.
    private func isSound(_ outcomes: [WebSocketOutcome], _ limit: Int) -> Bool {
        outcomes.dropLast().allSatisfy { !$0.isLast } && outcomes.allSatisfy { $0.isAllowed(limit) }
    }
}

extension WebSocketOutcome {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }

    /// Restates the guarantees that handlers rely on.
    fileprivate func isAllowed(_ limit: Int) -> Bool {
        switch self {
        case .text(let bytes): bytes.count <= limit && String(validating: bytes, as: UTF8.self) != nil
        case .binary(let bytes): bytes.count <= limit
        case .ping(let bytes), .pong(let bytes): bytes.count <= 125
        case .close(let code, let reason):
            code >= 1000 && code < 5000 && ![1004, 1006, 1015].contains(code) && (code < 1016 || code >= 3000)
                && reason.count <= 123 && (code != 1005 || reason.isEmpty)
        case .failure(let closure): [1002, 1007, 1009].contains(closure.code.rawValue)
        }
    }
}

/// Valid frames and ways to damage them.
private enum FrameMutation {
    /// Frames that may follow one another; the last ones end a connection and are rarely used.
    private static let seeds: [[UInt8]] = [
        ClientFrame.text("Hello"), ClientFrame.text("grün κόσμε 😀 and ASCII behind it"),
        ClientFrame.text("\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}"), ClientFrame.bytes(0x82, 0...20),
        ClientFrame.bytes(0x82, [UInt8](repeating: 0xFE, count: 200)),
        ClientFrame.bytes(0x01, "Hel".utf8) + ClientFrame.bytes(0x80, "lo".utf8),
        ClientFrame.bytes(0x01, [0xF0, 0x9F]) + ClientFrame.bytes(0x89, [1]) + ClientFrame.bytes(0x80, [0x98, 0x80]),
        ClientFrame.bytes(0x02) + ClientFrame.bytes(0x00, [0xFF]) + ClientFrame.bytes(0x80),
        ClientFrame.bytes(0x89, "ping".utf8), ClientFrame.bytes(0x89), ClientFrame.bytes(0x8A, "pong".utf8),
        ClientFrame.bytes(0x81, "no mask to speak of".utf8, key: [0, 0, 0, 0]),
        ClientFrame.bytes(0x88, [0x03, 0xE8] + "bye, grün".utf8, key: [0, 0, 0, 0]), ClientFrame.close(1001),
    ]
    private static let pieces: [[UInt8]] = [
        [0x81], [0x80], [0x01], [0x00], [0x82], [0x88], [0x89], [0xC1], [0x83], [0xFE], [0xFF], [0x7F],
        [0xFE, 0x00, 0x7E], [0xFE, 0x00, 0x7D], [0xFF, 0, 0, 0, 0, 0, 1, 0, 0], [0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0],
        [0xED, 0xA0, 0x80], [0xC3], [0xF4, 0x90], [0xF0, 0x9F, 0x98, 0x80], [0, 0, 0, 0], [0x88, 0x80, 0, 0, 0, 0],
        [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], [0x89, 0x80, 1, 2, 3, 4], [0x00, 0x80, 9, 9, 9, 9],
    ]

    /// One to four consecutive messages with up to three damages.
    static func input(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) { bytes += seeds.randomElement(using: &random) ?? [] }
        for _ in 0..<Int.random(in: 0...3, using: &random) { damage(&bytes, &random) }
        return bytes
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard Bool.random(using: &random) else { return Mutation.apply(to: &bytes, using: &random) }
        let start = Int.random(in: 0...bytes.count, using: &random)
        let piece = pieces.randomElement(using: &random) ?? []
        let end = Bool.random(using: &random) ? start : min(bytes.count, start + piece.count)
        bytes.replaceSubrange(start..<end, with: piece)
    }
}
