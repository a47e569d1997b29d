import HTTPTypes
import JSON
import Support
import Testing

@Suite("Comapi's routes")
struct RouteTests {
    @Test("ids are split off before they are decoded, and compared byte for byte")
    func ids() async throws {
        let world = try await World.comapi()
        let user = "a/b?c é"
        let session = try await world.session(user)
        let path = Example.path("/profiles/a%2Fb%3Fc%20%C3%A9")
        let read = try await world.call(.get, path, session.fields)
        read.expect(200)
        #expect(read.json["id"]?.string == user)
        // The same letter as two code points is another user.
        try await world.call(.get, Example.path("/profiles/a%2Fb%3Fc%20e%CC%81"), session.fields)
            .expect(404, Example.notFound, "unknown-profile")
    }

    @Test("a base that ends in a slash is accepted, and remarked; slashes elsewhere are not")
    func slashes() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let answer = try await world.call(.get, "/" + Example.path("/profiles/mira"), mira.fields)
        answer.expect(200)
        #expect(answer.isNoted("double-slash"))
        for path in ["/profiles//mira", "/profiles/mira/", "//profiles/mira"] {
            try await world.call(.get, Example.path(path), mira.fields).expect(404, Example.notFound, "unknown-path")
        }
    }

    @Test("nothing is ever answered with 304, and If-None-Match is ignored")
    func conditional() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let tag = try await world.call(.get, Example.path("/profiles/mira"), mira.fields)["etag"] ?? ""
        let fields = mira.fields + [("if-none-match", tag), ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT")]
        try await world.call(.get, Example.path("/profiles/mira"), fields).expect(200)
    }

    @Test("a template's spaces are each their own")
    func templates() async throws {
        let world = try await World.comapi()
        let one = try await world.session("mira", in: "suite-one")
        let two = try await world.session("mira", in: "suite-two")
        try await world.call(.put, Example.path("/profiles/mira", in: "suite-one"), one.fields, #"{"email":"x"}"#)
            .expect(200)
        let other = try await world.call(.get, Example.path("/profiles/mira", in: "suite-two"), two.fields)
        #expect(other.json["email"] == nil)
        try await world.call(.get, Example.path("/profiles/mira", in: "suite-two"), one.fields)
            .expect(401, Example.unauthorized, "session-other-space")
        try await world.call(.get, "/apispaces/suite-/sessions/start").expect(404, Example.notFound, "unknown-space")
    }

    private static let flags = #"{"canSend":true,"canAddParticipants":true,"canRemoveParticipants":true}"#
    private static func trip(_ members: String = "", latest: Int = 1) -> String {
        #"{"id":"trip-42",\#(members)"roles":{"owner":\#(flags),"participant":\#(flags)},"isPublic":false,"#
            + #""messageScope":"a2p","participantCount":2,"latestSentEventId":\#(latest),"#
    }

    @Test("a tag is that of the members, whatever their order, without those of the server")
    func tag() async throws {
        let world = try await World.comapi()
        let mira = try await world.session()
        let path = Example.path("/profiles/mira")
        // SHA-256 of {"a":{"y":[{"b":1,"c":2}],"z":"ü"},"firstName":"Mira","id":"mira"}, computed elsewhere.
        let tag = "\"4475ec5625b17109\""
        let body = #"{"firstName":"Mira","a":{"z":"ü","y":[{"c":2,"b":1}]},"_secret":1}"#
        let written = try await world.call(.put, path, mira.fields, body)
        written.expect(200)
        #expect(written["etag"] == tag)
        #expect(written.json["_secret"] == nil)
        for (value, status) in [
            (tag, 200), ("*", 200), ("\"x\", \(tag)", 200), ("W/\(tag)", 412), ("4475ec5625b17109", 412),
        ] {
            let answer = try await world.call(.put, path, mira.fields + [("if-match", value)], body)
            #expect(answer.status == status, "\(value)")
            if value == "4475ec5625b17109" {
                #expect(answer.entry?.explanation?.contains("only the quotes are missing") == true)
            }
        }
    }

    @Test("a conversation is answered in full wherever it is")
    func conversation() async throws {
        let world = try await World.comapi()
        let (mira, _) = try await world.trip()
        try await world.call(.post, Example.path("/conversations/trip-42/messages"), mira.fields, Example.message)
            .expect(200)
        let read = try await world.call(.get, Example.path("/conversations/trip-42"), mira.fields)
        let tag = try #require(read["etag"])
        let expected = JSON.string(tag).text
        read.expect(
            200,
            Self.trip() + #""_etag":\#(expected),"_createdOn":"2027-01-01T00:00:00.000Z","#
                + #""_createdBy":"session:mira","_updatedOn":"2027-01-01T00:00:00.000Z","_updatedBy":"session:mira"}"#)
        try await world.call(.get, Example.path("/conversations"), mira.fields).expect(200, "[\(read.text)]")
        #expect(tag.wholeMatch(of: /"[0-9a-f]{16}"/) != nil)
    }
}
