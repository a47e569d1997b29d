import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import Okta

@Suite("What makes room in Okta's state") struct RoomTests {
    @Test("a revoked token stays revoked when later ones push it or its grant out", arguments: [true, false])
    func revoked(_ isByGrant: Bool) throws {
        let moment = Moment(unixSeconds: 1_800_000_000)
        var state = OktaState(
            users: RecordTable(), factors: RecordTable(), clients: RecordTable(), groups: RecordTable(),
            trustedOrigins: RecordTable())
        func issue(_ id: String) {
            let grant = state.begin(OktaAuthorization(clientID: "c", serverID: "default"), at: moment)
            state.add(OktaIssuedToken(id: id, grant: grant.number, expires: moment + .seconds(3600)))
        }
        issue("first")
        issue("second")
        if isByGrant {
            state.revoke(grant: 1)
        } else {
            state.issuedTokens.change(ExactText("first")) { $0.isRevoked = true }
        }
        for number in 0..<52_000 { issue("later-\(number)") }
        #expect(state.issuedTokens["first"] == nil && state.issuedTokens["second"] == nil)
        #expect(state.isRevoked(tokenID: "first"))
        #expect(!state.isRevoked(tokenID: "second"))
    }

    @Test("the journal says what made room for a new pushed request") func pushed() async throws {
        let world = try await World()
        func push() async throws -> ReceivedAnswer { try await world.submit(.authorize, to: Example.custom + "/par") }
        for _ in 0..<1000 { #expect(try await push().findings.allSatisfy { $0.check != "room" }) }
        let last = try await push()
        last.expect(200)
        let room = try #require(last.findings.first { $0.check == "room" })
        expect(room.note, is: "They made room for the new pushed request, and are forgotten.")
        try await world.delete()
    }

    @Test("few nonces of proofs are kept, even of a clock that jumps") func nonces() throws {
        let moment = Moment(unixSeconds: Double(World.exampleMoment))
        var state = try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta")).initialState
        let identifiers = IdentifierSource(seed: 1)
        for day in 0..<100 { _ = state.proofNonces(at: moment + .seconds(Double(day) * 86_400), identifiers) }
        expect(state.proofNonces.count, is: 8)
        let good = state.proofNonces(at: moment + .seconds(99 * 86_400), identifiers)
        expect(good.count, is: 3)
        let back = state.proofNonces(at: moment, identifiers)
        #expect(back.count == 8 && back.last == state.proofNonces.all.last?.id, "those of the future still count")
    }
}
