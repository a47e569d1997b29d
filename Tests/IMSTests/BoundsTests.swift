import Emulation
import JSON
import Support
import Testing

@testable import IMS

/// Limits that keep a looping client from filling memory, and records from lasting forever.
@Suite("IMS's bounds")
struct BoundsTests {
    @Test("a use of a token id is forgotten when its token is over")
    func endOfUses() async throws {
        var uses = IMSTokenUses()
        #expect(uses.use("j", of: "i", by: "d", until: 100, at: 50) == nil)
        #expect(uses.use("j", of: "i", by: "e", until: 100, at: 99) == "d")
        #expect(uses.use("j", of: "other", by: "e", until: 100, at: 99) == nil)
        #expect(uses.use("j", of: "i", by: "e", until: 200, at: 100) == nil)
        #expect(uses.use("j", of: "i", by: "f", until: 200, at: 100) == "e")
    }

    @Test("uses that are over make room, and beyond the bound the earliest go")
    func manyUses() {
        let capacity = 4000
        var uses = IMSTokenUses(capacity: capacity)
        for number in 0..<2000 { _ = uses.use("j\(number)", of: "i", by: "", until: 100, at: Double(number / 20)) }
        for number in 0..<2000 { _ = uses.use("k\(number)", of: "i", by: "", until: 300, at: 150) }
        #expect(uses.count < 3000)
        for number in 0..<(capacity * 2) {
            _ = uses.use("l\(number)", of: "i", by: "", until: 300, at: 200)
        }
        #expect(uses.count <= capacity)
        #expect(uses.use("l\(capacity * 2 - 1)", of: "i", by: "", until: 300, at: 200) == "")
        #expect(uses.use("l0", of: "i", by: "", until: 300, at: 200) == nil)
    }

    @Test("long token ids count by their length")
    func longUses() {
        var uses = IMSTokenUses()
        let long = String(repeating: "x", count: 10_000)
        for number in 0..<2000 { _ = uses.use("\(number)\(long)", of: "i", by: "", until: 300, at: 200) }
        #expect(uses.count * 10_000 <= IMSTokenUses.byteCapacity)
    }

    @Test("a replay is judged by the sandbox's clock")
    func clock() async throws {
        let world = try await World()
        try await world.replaceUAT(["replay": "single-use", "expiry_leeway_seconds": 60])
        let token = Forged(.uat, [("jti", "j")])
        try await world.me(token).expect(200)
        try await world.freeze(at: 1_800_000_630)
        try await world.me(token).expectRefusal(401, "token-replayed")
        let next = Forged(.uat, at: 1_800_000_660, [("jti", "j")])
        try await world.freeze(at: 1_800_000_660)
        try await world.me(next).expect(200)
    }

    @Test("a request that an earlier rule refuses does not use up the token id, one of an unknown user does")
    func refusedUse() async throws {
        let world = try await World()
        try await world.replaceUAT(["replay": "single-use"])
        let token = Forged(.uat, [("jti", "j")])
        try await world.freeze(at: 1_799_999_900)
        try await world.me(token).expectRefusal(401, "token-not-yet-valid", field: "iat")
        try await world.freeze(at: 1_800_000_000)
        try await world.me(token).expect(200)
        let stranger = Forged(.uat, [("jti", "k"), ("sub", "nobody")])
        try await world.me(stranger).expectRefusal(403, "user-unknown")
        try await world.me(stranger).expectRefusal(401, "token-replayed")
    }

    @Test("what calls add counts as long as it is there: issuers, users, trips and invitations")
    func size() throws {
        let vendor = try IMS(fixtures: VendorFixtures(store: Repository.fixtures, folder: "ims"))
        var state = vendor.initialState
        #expect(vendor.size(of: state) == StateSize())
        let enrollment = IMSEnrollment(tenant: "demo", email: "new@b.test")
        let user = state.users.enroll(enrollment, IdentifierSource(seed: 1), at: Moment(unixSeconds: 1))
        let trip = try JSON.parse(Example.trip.utf8)
        try state.trips.add(
            Fields<IMS>(trip.object ?? [:]).read { IMSTrip(&$0, of: user.number, received: Moment(unixSeconds: 1)) })
        try state.invitations.add(
            Fields<IMS>(["kind": "account", "name": "n", "email": "a@b.test"]).read {
                IMSInvitation(&$0, number: 1, user: user.number, created: Moment(unixSeconds: 1))
            })
        #expect(vendor.size(of: state).records == 3)
        state.users.remove(user.number)
        state.forgetStrays()
        #expect(vendor.size(of: state) == StateSize())
    }
}
