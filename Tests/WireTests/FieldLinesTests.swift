import Testing
import Wire

@Suite struct FieldLinesTests {
    @Test func `A field is found whatever the case of its letters`() {
        let fields: FieldLines = ["CONTENT-type": "text/plain"]
        #expect(fields[.contentType] == "text/plain")
        #expect(fields[.contentLength] == nil)
    }

    @Test func `Lines of one name are joined by comma and blank, and can be read one by one`() {
        let fields: FieldLines = ["Accept": "a", "From": "f", "accept": "b"]
        #expect(fields[.accept] == "a, b")
        #expect(fields.bytes(of: .accept).map { Array($0) } == Array("a, b".utf8))
        #expect(fields.bytes(of: .from).map { Array($0) } == Array("f".utf8))
        #expect(fields.bytes(of: .cookie) == nil)
        #expect(fields.values(of: .accept) == ["a", "b"])
        #expect(fields.count(of: .accept) == 2)
        #expect(fields.count(of: .from) == 1)
        #expect(fields.count(of: .cookie) == 0)
    }

    @Test func `Lines keep their order and their spelling`() {
        let fields: FieldLines = ["B": "1", "a": "2"]
        #expect(fields.map(\.name) == ["B", "a"])
        #expect(fields.map(\.value) == ["1", "2"])
    }

    @Test func `A name that only begins like the one asked for is another name`() {
        let fields: FieldLines = ["Accept-Language": "de", "Accep": "x"]
        #expect(fields[.accept] == nil)
    }

    @Test func `Lines lie in a buffer that holds more than them`() {
        let bytes = Array("GET / HTTP/1.1\r\nFrom:  a \r\n".utf8)
        let fields = FieldLines(bytes: bytes, lines: [FieldLines.Line(name: 16..<20, value: 23..<24)])
        #expect(fields[.from] == "a")
    }

    @Test func `An empty value is there`() {
        let fields: FieldLines = ["From": ""]
        #expect(fields[.from]?.isEmpty == true)
    }
}
