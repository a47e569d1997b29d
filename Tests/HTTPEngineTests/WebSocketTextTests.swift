import Testing

@testable import HTTPEngine

/// Text is UTF-8, RFC 6455 section 8.1, and an error is detected at the first wrong byte.
@Suite struct WebSocketTextTests {
    private typealias Outcome = WebSocketOutcome

    /// The bounds of RFC 3629 section 4, and texts commonly used to test clients.
    static let valid = [
        "", "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}",
        "\u{E000}",
        "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}", "\u{3FFFF}", "\u{10FFFF}",
        "eight by eight by eight: ä, and some more ASCII behind it", "👩‍👩‍👧‍👦",
    ]

    /// The bytes before the first wrong one, and that byte.
    static let invalid: [(before: [UInt8], wrong: UInt8)] = [
        ([], 0x80), ([], 0xBF), ([], 0xC0), ([], 0xC1), ([], 0xF5), ([], 0xF8), ([], 0xFC), ([], 0xFE), ([], 0xFF),
        ([0xC2], 0x7F), ([0xC2], 0xC0), ([0xDF], 0x20), ([0xE0], 0x9F), ([0xE0], 0xC0), ([0xE0, 0xA0], 0x7F),
        ([0xE1, 0x80], 0xC0), ([0xED], 0xA0), ([0xED], 0xBF), ([0xEF, 0xBF], 0x00), ([0xF0], 0x8F),
        ([0xF0, 0x90], 0x20),
        ([0xF0, 0x90, 0x80], 0xFF), ([0xF4], 0x90), ([0xF4], 0xBF), ([0xC3, 0xA4], 0x80),
        ([0xCE, 0xBA, 0xE1, 0xBD], 0xED),
    ]

    @Test(arguments: valid)
    func `Valid text comes out as it went in, wherever it is cut`(text: String) {
        let bytes = Array(text.utf8)
        #expect(Outcome.read(ClientFrame.text(text)) == [.text(text)])
        for place in 0...bytes.count {
            let parts = ClientFrame.bytes(0x01, bytes[..<place]) + ClientFrame.bytes(0x80, bytes[place...])
            #expect(Outcome.read(parts) == [.text(text)])
        }
        let single = bytes.flatMap { ClientFrame.bytes(0x00, [$0]) + ClientFrame.bytes(0x89) }
        let all = ClientFrame.bytes(0x01) + single + ClientFrame.bytes(0x80)
        #expect(Outcome.read(all).last == .text(text))
    }

    @Test(arguments: invalid)
    func `The first wrong byte fails before the frame is complete`(before: [UInt8], wrong: UInt8) {
        for lead in [0, 3, 8, 13] {
            let valid = [UInt8](repeating: 0x61, count: lead) + before
            let bytes = ClientFrame.bytes(0x81, valid + [wrong], length: [100])
            #expect(Outcome.read(bytes.dropLast()).isEmpty)
            #expect(Outcome.read(bytes) == [.failure(.invalidText)])
        }
    }

    @Test(arguments: invalid)
    func `The first wrong byte fails in a later fragment`(before: [UInt8], wrong: UInt8) {
        for place in 0...before.count {
            let start =
                ClientFrame.bytes(0x01, before[..<place]) + ClientFrame.bytes(0x89)
                + ClientFrame.bytes(0x00, before[place...])
            #expect(Outcome.read(start) == [.ping([])])
            let bytes = start + ClientFrame.bytes(0x00, [wrong], length: [100])
            #expect(Outcome.read(bytes) == [.ping([]), .failure(.invalidText)])
        }
    }

    @Test(arguments: [[0xC2], [0xE0, 0xA0], [0xED, 0x9F], [0xF0, 0x90, 0x80], [0xF4]] as [[UInt8]])
    func `A text does not end inside a code point`(end: [UInt8]) {
        #expect(Outcome.read(ClientFrame.bytes(0x81, [0x61] + end)) == [.failure(.invalidText)])
        let parts = ClientFrame.bytes(0x01, end)
        #expect(Outcome.read(parts).isEmpty)
        #expect(Outcome.read(parts + ClientFrame.bytes(0x80)) == [.failure(.invalidText)])
    }

    @Test func `The next text starts afresh`() {
        let bytes = ClientFrame.text("ä") + ClientFrame.bytes(0x82, [0xC3]) + ClientFrame.bytes(0x81, [0xA4])
        #expect(Outcome.read(bytes) == [.text("ä"), .binary([0xC3]), .failure(.invalidText)])
    }

    @Test(arguments: 0x7F...0xFF as ClosedRange<UInt8>)
    func `The check agrees with the standard library on two to four bytes`(lead: UInt8) {
        let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for second in edges {
            for third in edges {
                let bytes = [lead, second, third, 0x80]
                for end in 2...4 {
                    let isText = String(validating: bytes[..<end], as: UTF8.self) != nil
                    if isValid(bytes[..<end]) != isText { Issue.record("\(bytes[..<end])") }
                }
            }
        }
    }

    private func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        var check = UTF8Check()
        return bytes.withUnsafeBytes { check.accepts($0) } && check.isComplete
    }
}
