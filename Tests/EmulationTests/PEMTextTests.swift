import Emulation
import Testing

@Suite("PEM, looked at without reading it")
struct PEMTextTests {
    @Test(
        "a line that mentions a private key is found wherever it stands",
        arguments: [
            ("-----BEGIN PRIVATE KEY-----\n", true), ("-----BEGIN RSA PRIVATE KEY-----\n", true),
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", true), ("PPRIVATE KEY-----", true),
            ("-----BEGIN PUBLIC KEY-----\n", false), ("-----BEGIN PRIVATE KEY----", false), ("", false), ("P", false),
        ])
    func privateKey(_ text: String, _ holds: Bool) {
        #expect(Array(text.utf8).holdsPrivateKey == holds)
    }

    @Test(
        "the first block is whole groups of four in base64, with an end",
        arguments: [
            ("-----BEGIN X-----\nAAAA\nBBBB\n-----END X-----", true),
            ("before\n-----BEGIN X-----\r\nAA\r\nAA\r\n-----END X-----\n*", true),
            ("-----BEGIN X-----\nAAA\n-----END X-----", false), ("-----BEGIN X-----\n-----END X-----", false),
            ("-----BEGIN X-----\nAAAA\n", false), ("-----BEGIN X-----\nAA*A\n-----END X-----", false), ("AAAA", false),
        ])
    func base64(_ text: String, _ isBase64: Bool) {
        #expect(Array(text.utf8).isBase64InPEM == isBase64)
    }
}
