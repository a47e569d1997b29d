import Testing
import Tokens

@Suite("base64url")
struct Base64URLTests {
    @Test("Every length and every byte survives the way there and back")
    func roundTrip() throws {
        for count in 0...260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            let text = Base64URL.encode(bytes)
            #expect(!text.contains { "=+/".contains($0) })
            #expect(try Base64URL.decode(text.utf8) == bytes)
        }
    }

    @Test(
        "The examples of RFC 4648 section 10 come out without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func examples(_ text: String, _ encoded: String) throws {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(try Base64URL.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test("Exactly one text stands for some bytes")
    func unique() throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var decodable = 0
        for first in alphabet {
            for second in alphabet where (try? Base64URL.decode([first, second])) != nil { decodable += 1 }
        }
        #expect(decodable == 256)
    }

    @Test(
        "Each fault has its name",
        arguments: [
            ("Zg=", Base64URL.Fault.padding), ("Zg==", .padding), ("=", .padding), ("Zm+v", .standardAlphabet(0x2B)),
            ("Zm/v", .standardAlphabet(0x2F)), ("Zm v", .whiteSpace(0x20)), ("Zm9v\n", .whiteSpace(0x0A)),
            ("Zm9!", .foreignByte(0x21)), ("Z\u{0}9v", .foreignByte(0)), ("Zm9vY", .length(5)), ("Z", .length(1)),
            ("Zh", .unusedBits), ("Zm9", .unusedBits),
        ])
    func faults(_ text: String, _ fault: Base64URL.Fault) {
        #expect(throws: fault) { try Base64URL.decode(text.utf8) }
    }

    @Test("A lenient reader takes both alphabets, padding and unused bits, and nothing else")
    func lenient() {
        #expect(Base64URL.decodeLeniently("-_-_".utf8) == [0xFB, 0xFF, 0xBF])
        #expect(Base64URL.decodeLeniently("+/+/".utf8) == [0xFB, 0xFF, 0xBF])
        #expect(Base64URL.decodeLeniently("Zg==".utf8) == [0x66])
        #expect(Base64URL.decodeLeniently("Zh".utf8) == [0x66])
        #expect(Base64URL.decodeLeniently("Zm9".utf8) == [0x66, 0x6F])
        #expect(Base64URL.decodeLeniently("Zm 9".utf8) == nil)
        #expect(Base64URL.decodeLeniently("Z".utf8) == nil)
        #expect(Base64URL.decodeLeniently("Zg=g".utf8) == nil)
    }
}
