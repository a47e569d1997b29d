import Expectations
import Testing

@testable import Comapi

@Suite("Comapi's forms") struct MultipartFormTests {
    private static let type = "multipart/form-data; boundary=xyz"
    private static let head = "Content-Disposition: form-data; name=\"file\""

    private func parts(_ text: String, type: String = type) throws -> [MultipartForm.Part] {
        try MultipartForm(Array(text.utf8), type: type).parts
    }

    @Test("a form is read part by part, byte for byte") func form() throws {
        let parts = try parts(
            "--xyz\r\n\(Self.head); filename=\"a \\\"b\\\".txt\"\r\nContent-Type: text/plain\r\n\r\na\r\n--xy\r\n\r\n--xyz\r\n"
                + "content-disposition: form-data; name=other\r\n\r\n\r\n--xyz--\r\n")
        expect(parts.map(\.name), is: ["file", "other"])
        expect(parts.map(\.fileName), is: [#"a "b".txt"#, nil])
        expect(parts.map(\.type), is: ["text/plain", nil])
        expect(parts.map { String(decoding: $0.bytes, as: UTF8.self) }, is: ["a\r\n--xy\r\n", ""])
    }

    @Test(
        "names of files are read as browsers and libraries write them",
        arguments: [
            (#"filename="a%22b%22.txt""#, #"a"b".txt"#), (#"filename="a%0D%0Ab.txt""#, "a\r\nb.txt"),
            (#"filename="100%25 %2F.txt""#, "100%25 %2F.txt"), (#"filename*=UTF-8''na%C3%AFve%20.txt"#, "naïve .txt"),
            (#"filename="plain.txt"; filename*=utf-8'en'%e2%82%ac.txt"#, "€.txt"),
            (#"filename*=iso-8859-1''%A3.txt; filename=plain.txt"#, "£.txt"),
            (#"filename="plain.txt"; filename*=UTF-8''%zz"#, "plain.txt"),
            (#"filename="plain.txt"; filename*=UTF-8''%C3"#, "plain.txt"),
            (#"filename="plain.txt"; filename*=koi8-r''x"#, "plain.txt"),
            (#"filename="plain.txt"; filename*=x"#, "plain.txt"),
        ])
    func fileNames(_ parameter: String, _ name: String) throws {
        let parts = try parts("--xyz\r\n\(Self.head); \(parameter)\r\n\r\nx\r\n--xyz--")
        expect(parts.map(\.fileName), is: [name])
        expect(parts.map(\.name), is: ["file"])
    }

    @Test("a form without parts, and boundaries in quotes") func edges() throws {
        #expect(try parts("--xyz--").isEmpty)
        let quoted = "multipart/form-data; charset=utf-8; boundary=\"a b\""
        expect(try parts("\r\n--a b\r\n\(Self.head)\r\n\r\nx\r\n--a b--", type: quoted).count, is: 1)
        #expect(MultipartForm.isForm("Multipart/Form-Data; boundary=x"))
        #expect(!MultipartForm.isForm("multipart/mixed; boundary=x"))
        #expect(!MultipartForm.isForm(""))
    }

    @Test(
        "what is broken is refused by name",
        arguments: [
            ("", MultipartForm.Problem.noOpening), ("x--xyz--", .noOpening), ("--xyz", .brokenDelimiter),
            ("--xyz--x", .brokenDelimiter), ("--xyz \r\n", .brokenDelimiter), ("--xyz\r\nno end", .noClosing),
            ("--xyz\r\n\r\n\r\n--xyz--", .brokenHead), ("--xyz\r\nno colon\r\n\r\nx\r\n--xyz--", .brokenHead),
            ("--xyz\r\n: x\r\n\r\nx\r\n--xyz--", .brokenHead),
            ("--xyz\r\nA: 1\r\nA: 2\r\n\r\nx\r\n--xyz--", .brokenHead),
            ("--xyz\r\nA: 1\r\n\r\nx\r\n--xyz--", .noName),
            ("--xyz\r\nContent-Disposition: attachment; name=x\r\n\r\nx\r\n--xyz--", .noName),
            ("--xyz\r\nA: \(String(repeating: "x", count: 9000))\r\n\r\nx\r\n--xyz--", .headTooLong),
            (
                String(repeating: "--xyz\r\nContent-Disposition: form-data; name=x\r\n\r\nx\r\n", count: 101)
                    + "--xyz--", .tooManyParts
            ),
        ])
    func broken(_ text: String, _ problem: MultipartForm.Problem) {
        #expect(throws: problem) { try MultipartForm(Array(text.utf8), type: Self.type) }
    }

    @Test(
        "a boundary has 1 to 70 characters",
        arguments: [
            "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"x",
            "multipart/form-data; boundary=" + String(repeating: "x", count: 71),
        ])
    func boundary(_ type: String) {
        #expect(throws: MultipartForm.Problem.noBoundary) { try MultipartForm(Array("--x--".utf8), type: type) }
    }

    @Test("no cut or changed form is a crash, and none takes long") func mutations() {
        let form = Array("--xyz\r\n\(Self.head); filename=\"a\"\r\n\r\nabc\r\n--xyz--\r\n".utf8)
        for count in 0..<form.count {
            _ = try? MultipartForm(Array(form.prefix(count)), type: Self.type)
            for byte: UInt8 in [0, 0x0A, 0x0D, 0x22, 0x2D, 0xFF] {
                var changed = form
                changed[count] = byte
                _ = try? MultipartForm(changed, type: Self.type)
            }
        }
    }

    @Test(
        "a megabyte of what begins or ends a boundary is read in one go", .timeLimit(.minutes(15)),
        arguments: ["\r", "\n", "-", "z", "\r\n--xy", "\r\n--xyzz"])
    func largest(_ text: String) {
        let filling = Array(String(repeating: text, count: (1 << 20) / text.utf8.count).utf8)
        #expect(throws: text.hasSuffix("zz") ? MultipartForm.Problem.brokenHead : .noClosing) {
            try MultipartForm(Array("--xyz\r\n".utf8) + filling, type: Self.type)
        }
    }
}
