import Emulation
import JSON
import Support
import Testing
import Understudy

/// State that leaves a sandbox as JSON and comes back, and state under other fixtures.
@Suite("Comapi's state, exported and imported")
struct ExportTests {
    /// Something of every kind happens.
    private func live(_ world: World) async throws -> Session {
        let (mira, bob) = try await world.trip()
        let path = Example.path("/conversations/trip-42")
        try await world.call(.put, path, mira.fields, #"{"name":"Trip","roles":{"participant":{"canSend":false}}}"#)
            .expect(200)
        try await world.call(
            .put, Example.path("/sessions/\(bob.id)/push"), bob.fields,
            #"{"apns":{"bundleId":"b","environment":"production","token":"t"}}"#
        ).expect(200)
        let sent = try await world.call(
            .post, path + "/messages", mira.fields, #"{"parts":[{"data":"Hi"}],"alert":{"title":"T"}}"#)
        let id = try #require(sent.json["id"]?.string)
        try await world.call(
            .post, path + "/messages/statusupdates", bob.fields, #"[{"messageIds":["\#(id)"],"status":"read"}]"#
        ).expect(200)
        try await world.call(.patch, Example.path("/profiles/mira"), mira.fields, #"{"shoeSize":38,"email":"m@x"}"#)
            .expect(200)
        try await world.call(.post, Example.path("/content"), mira.fields, "bytes").expect(200)
        try await world.call(.post, Example.path("/conversations"), bob.fields, #"{"id":"gone"}"#).expect(201)
        try await world.call(.delete, Example.path("/conversations/gone"), bob.fields).expect(204)
        try await world.call(.delete, Example.path("/sessions/\(bob.id)"), bob.fields).expect(204)
        _ = try await world.challenge()
        _ = try await world.session("other", in: Example.c)
        return mira
    }

    /// Everything that a client can see of it.
    private func seen(_ world: World, _ mira: Session) async throws -> [String] {
        var texts: [String] = []
        for path in [
            "/profiles", "/conversations", "/conversations/trip-42", "/conversations/trip-42/participants",
            "/conversations/trip-42/messages", "/conversations/trip-42/events", "/sessions/\(mira.id)",
        ] {
            let answer = try await world.call(.get, Example.path(path), mira.fields)
            answer.expect(200)
            texts.append(answer.text)
        }
        return texts
    }

    @Test("an export put back changes nothing, and holds no secret", arguments: Depth.allCases)
    func whole(_ depth: Depth) async throws {
        let world = try await World.comapi(depth)
        let mira = try await live(world)
        let before = try await seen(world, mira)
        let exported = try await world.control(.get, "state/comapi")
        #expect(exported.status == 200)
        #expect(!exported.text.contains(mira.token))
        #expect(!exported.text.contains("understudy-test"))
        // What happens after the export is taken back.
        try await world.call(.delete, Example.path("/conversations/trip-42"), mira.fields).expect(204)
        let put = try await world.control(.put, "state/comapi", exported.text)
        #expect(put.status == 200, "\(put.text)")
        #expect(put.text == exported.text)
        #expect(try await seen(world, mira) == before)
        let revived = try await world.call(.post, Example.path("/conversations"), mira.fields, #"{"id":"gone"}"#)
        revived.expect(201)
    }

    @Test("what happened outlives a restart with a state file")
    func restart() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World.comapi(on: first)
        let mira = try await live(world)
        let before = try await seen(world, mira)
        // By its text, as a file would hold it.
        let saved = try JSON.parse(first.emulator.exportState().prettyText.utf8)
        let second = try Emulator(fixtures: Repository.fixtures)
        try second.importState(FixtureNode(saved, from: "file"))
        let later = world.moved(to: try Stage(second))
        try await later.freeze(at: Example.moment)
        #expect(try await seen(later, mira) == before)
    }

    @Test("a sandbox in which nothing happened has no changes")
    func untouched() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World.comapi(on: stage)
        try await world.call(.get, Example.path("/profiles")).expect(401, Example.unauthorized, "session-missing")
        #expect(stage.emulator.exportState()["sandboxes"]?.array == [])
        _ = try await world.challenge()
        #expect(stage.emulator.exportState()["sandboxes"]?.array?.map { $0["name"]?.string } == [world.name])
    }

    @Test(
        "what makes no sense is refused with its place, and changes nothing",
        arguments: [
            (#"{"spaces":[{"id":"x"},{"id":"x"}]}"#, "another space"), (#"{"spces":[]}"#, "did you mean “spaces”?"),
            (#"{"spaces":[{"id":"x","profiles":[{"id":"a","created":"soon"}]}]}"#, "spaces[0].profiles[0].created"),
            (#"{"spaces":[{"id":"x","profiles":[{"id":"a","created":1,"members":{"_x":1}}]}]}"#, "the server's own"),
            (
                #"{"spaces":[{"id":"x","profiles":[{"id":"a","created":1},{"id":"a","created":1}]}]}"#,
                "another profile"
            ),
            (
                #"{"spaces":[{"id":"x","conversations":[{"id":"c","creator":"a","created":1,"events":[{"id":1,"event":"e","actor":"a","at":1,"message":"m","kind":"sent"}]}]}]}"#,
                "has parts"
            ),
            (
                #"{"spaces":[{"id":"x","conversations":[{"id":"c","creator":"a","created":1,"events":[{"id":1,"event":"e","actor":"a","at":1,"message":"m","kind":"seen"}]}]}]}"#,
                "none of sent, delivered, read"
            ),
            (
                #"{"spaces":[{"id":"x","conversations":[{"id":"c","creator":"a","created":1,"last_event":-1}]}]}"#,
                "last_event"
            ),
            (#"{"contents":[{"id":"c","space":"x","name":"n","type":"t","data":"*"}]}"#, "is not base64"),
            (
                #"{"sessions":[{"id":"s","space":"x","profile":"p","started":1,"expires":2,"registration":{}}]}"#,
                "push has 0 of fcm and apns; expected exactly one, an object"
            ),
            (
                #"{"sessions":[{"id":"s","space":"x","profile":"p","started":1,"expires":2},{"id":"s","space":"x","profile":"q","started":1,"expires":2}]}"#,
                "sessions[1]: session s stands there twice"
            ),
        ])
    func refused(_ state: String, _ hint: String) async throws {
        let world = try await World.comapi()
        _ = try await world.trip()
        let before = try await world.control(.get, "state/comapi").text
        let answer = try await world.control(.put, "state/comapi", state)
        #expect(answer.status == 400)
        #expect(answer.text.contains(hint), "\(answer.text)")
        #expect(try await world.control(.get, "state/comapi").text == before)
    }

    @Test("fixtures that are read anew keep sessions, messages and tokens; a space that is gone is not found")
    func reload() async throws {
        let fixtures = try OwnFixtures()
        let emulator = try Emulator(fixtures: fixtures.store)
        let world = try await World.comapi(on: Stage(emulator))
        let mira = try await live(world)
        let before = try await seen(world, mira)
        try fixtures.put("comapi/accounts.yaml", [(Example.c, "another-space"), ("4001", "4009")])
        try emulator.reload(fixtures.store)
        let after = try await seen(world, mira)
        #expect(after.map { $0.replacing("4009", with: "4001") } == before)
        try await world.call(.get, Example.path("/sessions/start", in: Example.c))
            .expect(404, Example.notFound, "unknown-space")
        try await world.call(.get, Example.path("/sessions/start", in: "another-space")).expect(200)
    }

    @Test(
        "accounts that make no sense stop the start, with their place",
        arguments: [
            ("account_id: 4002", "account_id: many", "a whole number"),
            ("id_claim: \"uid\"", "claim: \"uid\"", "claim"),
            (Example.c, Example.b, "another space"), ("suite-*", "*", "letters before the *"),
            ("understudy-test-shared-secret-C", "", "cannot be used as a secret"),
        ])
    func accounts(_ old: String, _ new: String, _ hint: String) async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put("comapi/accounts.yaml", [(old, new)])
        let problem = #expect(throws: FixtureProblem.self) { _ = try Emulator(fixtures: fixtures.store) }
        #expect(
            problem.map { "\($0)".contains(hint) && "\($0)".contains("accounts.yaml:") } == true,
            "\(problem.map { "\($0)" } ?? "")")
    }

    @Test("the sample request works, and shows no secret")
    func samples() async throws {
        let world = try await World.comapi()
        let comapi = try #require(world.emulator.vendors.first { $0.identity.id == "comapi" })
        let request = try #require(comapi.tokenMinter).sampleRequest(at: Moment(unixSeconds: Double(Example.moment)))
        try await world.call(request.endpoint.method, request.endpoint.pattern, [], request.body).expect(200)
        #expect(comapi.samples.contains { $0.value == Example.a })
        #expect(comapi.samples.allSatisfy { !$0.value.contains("secret") })
    }
}
