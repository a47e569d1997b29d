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

    @Test("users beyond the bound push out those who were enrolled first, and never the fixtures'")
    func users() throws {
        let capacity = 300
        var first = IMSUser(
            number: 1, tenant: "t", activationID: "first", email: "first@b.test", created: .init(unixSeconds: 1))
        first.enterpriseID = "first"
        var users = IMSUserStore(fixtures: [first])
        let identifiers = IdentifierSource(seed: 1)
        for number in 0...capacity {
            let enrollment = IMSEnrollment(tenant: "t", email: "\(number)@b.test")
            _ = users.enroll(
                enrollment, identifiers, at: .init(unixSeconds: 1), within: RecordBound(count: capacity))
        }
        #expect(users[1] != nil)
        #expect(users[2] == nil)
        #expect(users.user(of: "t", activationID: "0@b.test") == nil)
        #expect(users.user(of: "t", activationID: "\(capacity)@b.test") != nil)
        #expect(users.added.count <= capacity)
    }

    @Test("all trips of a sandbox take so many bytes and no more")
    func tripBytes() throws {
        let length = IMSTrips.byteCapacity / 8
        func trip(_ number: Int, bytes: Int) throws -> IMSTrip {
            // The speed is kept as it was written.
            let speed = "0." + String(repeating: "1", count: bytes)
            let point = #"{"at":"2027-01-01T00:00:00Z","lat":1,"lon":1,"speed_mps":\#(speed)}"#
            let body = try JSON.parse(
                """
                {"trip_id":"t\(number)","started_at":"2027-01-01T00:00:00Z","ended_at":"2027-01-01T00:00:00Z",\
                "distance_meters":1,"points":[\(point)]}
                """.utf8)
            return try Fields<IMS>(body.object ?? [:]).read {
                IMSTrip(&$0, of: number, received: Moment(unixSeconds: 1))
            }
        }
        var trips = IMSTrips()
        for number in 1...7 { trips.add(try trip(number, bytes: length)) }
        let rest = IMSTrips.byteCapacity - trips.byteCount - (try trip(8, bytes: 1).byteCount) + 1
        #expect(trips.hasRoom(for: try trip(8, bytes: rest)))
        #expect(!trips.hasRoom(for: try trip(8, bytes: rest + 1)))
    }
}
