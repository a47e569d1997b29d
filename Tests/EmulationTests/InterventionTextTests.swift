import Emulation
import JSON
import Testing

@Suite("Interventions in one line")
struct InterventionTextTests {
    @Test("a text stays as it is, and an object is told by its plain members")
    func lines() {
        #expect(InterventionText.line(nil) == nil)
        #expect(InterventionText.line("armed fault, call 1") == "armed fault, call 1")
        let own: JSON = ["claim_override": "nonce", "of": "id", "changes": [["member": "nonce"]], "left": 0]
        #expect(InterventionText.line([own]) == "claim override nonce, of id, left 0")
        #expect(
            InterventionText.line(["armed fault, call 1", own])
                == "armed fault, call 1; claim override nonce, of id, left 0")
        #expect(InterventionText.line([["changes": []]]) == nil)
    }
}

@Suite("The public base in texts")
struct PublicBaseTextTests {
    @Test(
        "an address of this server has the placeholder in place of its base, in each form; others have none",
        arguments: [
            ("http://localhost:8080/a", "{base}/a"), ("http://localhost:8080", "{base}"),
            ("http://localhost:8080/~one/a", "{base}/a"), ("http://one.localhost:8080/a", "{base}/a"),
            ("http://localhost:8080/~two/a", "{base}/~two/a"), ("http://localhost:80801/a", nil),
            ("http://127.0.0.1:8080/a", nil), ("https://localhost:8080/a", nil),
        ])
    func general(_ address: String, _ expected: String?) {
        #expect(PublicBase().general(address, of: "one") == expected)
    }
}
