import Expectations
import JSON
import Support
import Testing

/// Content that a vendor cannot read because of its form: one rule says so, at every vendor.
@Suite("The form of a request's content") struct ContentFormTests {
    /// A vendor's route that reads content, with content that it takes.
    typealias Place = (vendor: String, path: String, type: String, content: String)

    private static let json = "application/json"
    private static let form = "application/x-www-form-urlencoded"

    private static let places: [Place] = [
        ("rezolve", "/api/v1/authentication/register", json, #"{"email":"zoé@example.test"}"#),
        ("ims", "/ims/v1/users", json, #"{"userid":"zoé"}"#),
        ("bloomreach", "/track/v2/projects/demo-project-1/customers", json, #"{"customer_ids":{"registered":"zoé"}}"#),
        ("comapi", "/apispaces/x/sessions", json, #"{"id":"zoé"}"#),
        ("okta", "/oauth2/default/v1/token", form, "grant_type=password&username=zoé"),
    ]

    typealias Form = (name: String, change: @Sendable (Place) -> (bytes: [UInt8], World.Fields), says: String)

    /// A change of content and fields, and what the journal says of it.
    private static let forms: [Form] = [
        (
            "compressed", { ([0x1F, 0x8B, 8, 0, 0xFF] + $0.content.utf8, [("content-encoding", "gzip")]) },
            "the content is compressed (Content-Encoding: gzip); expected it uncompressed"
        ),
        (
            "deflate", { ([0x78, 0x9C, 0xFF] + $0.content.utf8, [("content-encoding", "deflate")]) },
            "the content is compressed (Content-Encoding: deflate); expected it uncompressed"
        ),
        (
            "br", { _ in ([0x8B, 0x02, 0x80, 0xFF], [("content-encoding", "br")]) },
            "the content is compressed (Content-Encoding: br); expected it uncompressed"
        ),
        (
            "compressed in name only", { (Array($0.content.utf8), [("content-encoding", "gzip")]) },
            "Content-Encoding is gzip, but the content is not compressed; expected no such field"
        ),
        (
            "compressed in silence", { ([0x1F, 0x8B, 8, 0, 0xFF] + $0.content.utf8, []) },
            "the content is compressed with gzip, and no Content-Encoding says so; expected it uncompressed"
        ),
        (
            "UTF-16", { (Array($0.content.utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, []) },
            "the content is UTF-16; expected UTF-8"
        ),
        (
            "UTF-16 with its mark",
            { ([0xFE, 0xFF] + Array($0.content.utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, []) },
            "the content is UTF-16; expected UTF-8"
        ),
        (
            "a mark", { ([0xEF, 0xBB, 0xBF] + $0.content.utf8, []) },
            "the content begins with a byte order mark; expected none"
        ),
        (
            "Latin-1", { ($0.content.unicodeScalars.map { UInt8($0.value) }, []) },
            ", 0xE9, is not UTF-8, but may be Latin-1; expected UTF-8"
        ),
        (
            "another type",
            { place in
                place.type == form
                    ? (Array(#"{"grant_type":"password"}"#.utf8), [("content-type", form)])
                    : (Array("userid=x&b=%20".utf8), [("content-type", place.type)])
            }, ""
        ),
    ]

    @Test("is told in the reason of a refusal and in a remark", arguments: places, forms.map(\.name))
    func told(_ place: Place, _ name: String) async throws {
        let form = try #require(Self.forms.first { $0.name == name })
        let world = try await World()
        let (bytes, fields) = form.change(place)
        let type = fields.contains { $0.0 == "content-type" } ? [] : [("content-type", place.type)]
        let answer = try await world.call(.post, place.path, type + fields, bytes: bytes)
        let entry = try #require(answer.entry)
        expect(entry.record.vendor, is: place.vendor)
        expect(answer.outcome(of: "content-form"), is: .noted, "\(answer.status) \(world.shown(entry))")
        let says =
            name != "another type"
            ? form.says
            : place.type == Self.form
                ? "the content is JSON, sent as \(Self.form)"
                : "the content looks like a form, sent as \(Self.json)"
        let told = try #require(world.masked(entry)[answer.status < 400 ? "note" : "reason"]?.string)
        #expect(told.hasSuffix(says), "\(told)")
    }

    @Test("content in its right form is not remarked on, whatever is refused", arguments: places)
    func right(_ place: Place) async throws {
        let world = try await World()
        for type in [
            [("content-type", place.type)],
            place.type == Self.form ? [("content-type", "\(Self.form); charset=utf-8")] : [("content-type", Self.form)],
            [("content-type", "application/octet-stream")],
        ] {
            let answer = try await world.call(.post, place.path, type, place.content)
            expect(answer.outcome(of: "content-form"), is: nil)
        }
    }
}
