import Testing

@testable import Tokens

@Suite("Texts that look alike")
struct LookalikeTests {
    @Test(
        "What differs by nothing that people see is shown with escapes",
        arguments: [
            ("zo\u{E9}", "zoe\u{301}", "zo\\u00e9", "zoe\\u0301"),
            ("ada", "\u{430}da", "ada", "\\u0430da"), ("ada", "ada\u{200B}", "ada", "ada\\u200b"),
            ("ada", "ada ", "ada", "ada\\u0020"), ("a\u{1F600}", "b\u{1F600}", "a\u{1F600}", "b\u{1F600}"),
            ("\u{1F600}", "\u{1F601}", "\\ud83d\\ude00", "\\ud83d\\ude01"), ("ada", "adb", "ada", "adb"),
            ("zo\u{E9}", "zo\u{E9}", "zo\u{E9}", "zo\u{E9}"),
        ])
    func escapes(_ one: String, _ other: String, _ shown: String, _ otherShown: String) {
        let (first, second) = Lookalikes.toldApart(one, other)
        #expect(first.unicodeScalars.elementsEqual(shown.unicodeScalars), "\(first) is not \(shown)")
        #expect(second.unicodeScalars.elementsEqual(otherShown.unicodeScalars), "\(second) is not \(otherShown)")
    }

    @Test("A failed finding shows both sides with escapes, a passed one as they are")
    func finding() {
        let failed = Finding("user", .failed, expected: .text("zo\u{E9}"), found: .json(.string("zoe\u{301}")))
        #expect(failed.description.contains("zo\\u00e9"), "\(failed)")
        #expect(failed.description.contains("zoe\\u0301"), "\(failed)")
        #expect(failed.json["found"]?.string == "zoe\\u0301")
        let passed = Finding("user", .passed, expected: .text("zo\u{E9}"), found: .text("zo\u{E9}"))
        #expect(!passed.description.contains("\\u"), "\(passed)")
    }
}
