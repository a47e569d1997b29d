import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing
import Understudy

/// The order that marks one of Ana's messages as read.
private let readAnas = #"{"customer":"ana@example.test","message":"msg-push-1"}"#

/// A change of the accounts that numbers the customers anew.
private let zoeBeforeAna = (
    old: "      - ids: { registered: \"ana@example.test\" }",
    new: "      - ids: { registered: \"zoe@example.test\" }\n      - ids: { registered: \"ana@example.test\" }"
)

@Suite("Bloomreach's content, exported, imported and under new fixtures") struct ContentExportTests {
    private typealias Content = ContentExample

    @Test("an import without content has empty inboxes") func noContent() async throws {
        let world = try await World()
        let export = try await world.control(.get, "state/bloomreach").json
        var object = export.object ?? [:]
        object["content"] = nil
        let put = try await world.control(.put, "state/bloomreach", JSON.object(object).text)
        #expect((200...299).contains(put.status), "\(put.text)")
        try await world.fetchInbox().expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.1.0"}"#)
    }

    @Test(
        "an import with a fault is refused with its place, and changes nothing",
        arguments: [
            (
                "\"stamp\":1", "\"stamp\":9",
                "content.inboxes[0].messages[0]: the message has stamp 9, but the inbox has reached 2"
            ),
            ("\"epoch\":1", "\"epoch\":0", "the epoch is 0"), ("\"epoch\":1", "\"epoch\":\"1\"", "epoch"),
            ("\"counter\":2", "\"counter\":-2", "counter"), (",\"stamp\":1", "", "member “stamp” is missing"),
            ("msg-html-1", "msg-push-1", "another message of this inbox has the id msg-push-1"),
            (
                #""project":"demo-project-1","customer":{"registered":"ben"#,
                #""project":"x","customer":{"registered":"ben"#, "project x has no customer"
            ),
            (
                #""customer":{"registered":"ben@example.test"},"epoch""#, #""customer":{"registered":"bea"},"epoch""#,
                "has no customer whose registered is “bea”"
            ),
            ("\"newsletter\":true", "\"newsletter\":1", "expected true or false"),
            ("\"discovery\"", "\"discoverer\"", "unknown member “discoverer”"),
        ])
    func wrongImports(_ old: String, _ new: String, _ complaint: String) async throws {
        let world = try await World()
        let text = try await world.control(.get, "state/bloomreach").text
        let wrong = text.replacing(old, with: new, maxReplacements: 1)
        #expect(wrong != text, "the change took place")
        let answer = try await world.control(.put, "state/bloomreach", wrong)
        expect(answer.status, is: 400, "\(answer.text)")
        #expect(answer.text.contains(complaint), "\(answer.text)")
        expect(try await world.control(.get, "state/bloomreach").text, is: text)
    }

    // MARK: - Other fixtures

    private static let inbox = "bloomreach/content/app-inbox.yaml"

    private func reload(
        _ file: String, _ changes: [(old: String, new: String)], _ before: (World) async throws -> Void,
        _ after: (World) async throws -> Void
    ) async throws {
        let fixtures = try OwnFixtures()
        let emulator = try fixtures.emulator(of: "bloomreach")
        let world = try await World(on: Stage(emulator))
        try await before(world)
        try fixtures.put(file, changes)
        try emulator.reload(fixtures.store)
        try await after(world)
    }

    @Test("a changed message replaces the old one, and clients learn of it; what was read stays read")
    func changedMessage() async throws {
        try await reload(Self.inbox, [("Parcel sent", "Parcel lost"), ("Spring news", "Summer news")]) { world in
            try await world.act("read-inbox-message", readAnas)
            expect(try await world.fetchInbox().json["sync_token"], is: "v1.1.1.3")
        } _: { world in
            let delta = try await world.fetchInbox(#""sync_token":"v1.1.1.3""#)
            expect(delta.messageIDs, is: ["msg-push-1", "msg-html-1"])
            expect(delta.json["messages"]?[0]?["content"]?["title"], is: "Parcel lost")
            expect(delta.json["messages"]?.array?.map { $0["is_read"] }, is: [true, false])
            expect(delta.json["sync_token"], is: "v1.1.1.5")
        }
    }

    @Test("a message that left the file leaves the inbox with a new epoch; an added one is added")
    func goneMessage() async throws {
        try await reload(Self.inbox, [("id: \"msg-html-1\"", "id: \"msg-html-9\"")]) { world in
            expect(try await world.fetchInbox().messageIDs, is: ["msg-push-1", "msg-html-1"])
        } _: { world in
            try await world.fetchInbox(#""sync_token":"v1.1.1.2""#).expect(410, Content.staleToken, "sync-token-stale")
            let full = try await world.fetchInbox()
            expect(full.messageIDs, is: ["msg-push-1", "msg-html-9"])
            expect(full.json["sync_token"], is: "v1.1.2.3")
        }
    }

    @Test("what the sandbox did stays: a deleted message stays away, an added one stays")
    func ownMessages() async throws {
        try await reload(Self.inbox, [("Parcel sent", "Parcel lost")]) { world in
            try await BloomreachLife.fillInboxes(world)
        } _: { world in
            let ana = try await world.fetchInbox()
            expect(ana.messageIDs, is: ["msg-push-1"])
            let ben = try await world.call(.post, Example.inbox, .token, Content.ofBen(#""application_id":"tv""#))
            expect(ben.messageIDs, is: ["m", "msg-push-2"])
        }
    }

    @Test("an inbox follows its customer when the file numbers customers anew") func renumbered() async throws {
        try await reload("bloomreach/accounts.yaml", [zoeBeforeAna]) { world in
            try await world.act("read-inbox-message", readAnas)
        } _: { world in
            let ana = try await world.fetchInbox(#""sync_token":"v1.1.1.2""#)
            expect(ana.messageIDs, is: ["msg-push-1"], "the number that the token holds is still Ana's")
            let ben = try await world.call(.post, Example.inbox, .token, Content.ofBen())
            expect(ben.messageIDs, is: ["msg-push-2"])
            try await world.call(.post, Example.inbox, .token, Example.body(#"{"registered":"zoe@example.test"}"#))
                .expect(200)
        }
    }

    @Test("changed segments and consents follow where nobody changed them") func segmentsAndConsents() async throws {
        let query = Content.segments + "?cookie=" + Example.cookieAna
        try await reload("bloomreach/content/segments.yaml", [("seg-1", "seg-9")]) { world in
            try await world.act(
                "set-consent", #"{"customer":"ana@example.test","category":"newsletter","value":false}"#)
        } _: { world in
            expect(try await world.call(.get, query, .token).json["discovery"]?[0]?["id"], is: "seg-9")
            let consent = try await world.attributes(#"{"type":"consent","category":"newsletter"}"#, of: Example.ana)
            expect(consent.json["results"]?[0]?["value"], is: false)
        }
        try await reload("bloomreach/content/segments.yaml", [("seg-1", "seg-9")]) { world in
            try await world.act("set-segments", #"{"customer":"ana@example.test","segments":{"content":[]}}"#)
        } _: { world in
            try await world.call(.get, query, .token).expect(200, "{}")
        }
    }
}

@Suite("Bloomreach's content over a restart") struct ContentRestartTests {
    private typealias Content = ContentExample

    @Test("what was seen of content has the same times again") func times() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        let before = try await world.fetchInbox().text
        #expect(before.contains("create_time"))
        let again = world.moved(to: try world.stage.restarted())
        try await again.freeze(at: World.exampleMoment + 86_400)
        expect(try await again.fetchInbox().text, is: before)
    }

    @Test("what is kept may be as deep as a state may be") func deep() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        let levels = Emulator.stateDepth - 10
        let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let state =
            #"{"projects":[{"token":"demo-project-1","customers":[{"number":1,"ids":{"registered":"a"},"properties":{"deep":\#(value)}}]}]}"#
        expect(try await world.control(.put, "state/bloomreach", state).status, is: 200)
        let again = world.moved(to: try world.stage.restarted())
        #expect(try await again.control(.get, "state/bloomreach").text.contains(value))
    }

    @Test("what nobody touched follows the files of the new start") func otherContent() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        try await world.act("read-inbox-message", readAnas)
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/content/app-inbox.yaml", [("Welcome, Ben", "Hello, Ben")])
        try fixtures.put("bloomreach/content/segments.yaml", [("seg-1", "seg-9")])
        let again = world.moved(to: try world.stage.restarted(fixtures.store))
        try await again.freeze(at: World.exampleMoment)
        expect(try await again.fetchInbox().json["messages"]?.array?.map { $0["is_read"] }, is: [true, false])
        let ben = try await again.call(.post, Example.inbox, .token, Content.ofBen())
        expect(ben.json["messages"]?[0]?["content"]?["title"], is: "Hello, Ben")
        let segments = try await again.call(.get, Content.segments + "?cookie=" + Example.cookieAna, .token)
        expect(segments.json["discovery"]?[0]?["id"], is: "seg-9")
    }

    @Test("an inbox is that of its customer also when the file numbers customers anew")
    func otherNumbers() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        try await world.act("read-inbox-message", readAnas)
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/accounts.yaml", [zoeBeforeAna])
        let again = world.moved(to: try world.stage.restarted(fixtures.store))
        try await again.freeze(at: World.exampleMoment)
        let ana = try await again.fetchInbox()
        expect(ana.json["messages"]?.array?.map { $0["is_read"] }, is: [true, false])
        expect(try await again.call(.post, Example.inbox, .token, Content.ofBen()).messageIDs, is: ["msg-push-2"])
        let zoe = try await again.call(
            .post, Example.inbox, .token, Example.body(#"{"registered":"zoe@example.test"}"#))
        expect(zoe.messageIDs, is: [])
    }
}
