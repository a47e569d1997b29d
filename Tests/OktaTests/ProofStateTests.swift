import Emulation
import JSON
import Support
import Testing

@testable import Okta

@Suite("Okta's memory of proofs, requests and origins")
struct ProofStateTests {
    private let vendor: Okta
    private let moment = Moment(unixSeconds: Double(World.exampleMoment))

    init() throws { vendor = try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta")) }

    @Test("survives export and import")
    func export() throws {
        var state = vendor.initialState
        let nonces = state.proofNonces(at: moment, IdentifierSource(seed: 1))
        let isFirst = state.use(.proof, "a", of: "T1", until: moment + .seconds(600), at: moment)
        #expect(isFirst)
        let key = OktaRateWindow.Key(client: ExactText(Example.spa), route: ExactText("par"))
        _ = state.count(key, at: moment)
        state.trustedOrigins.remove(ExactText("http://localhost:3000"))
        state.trustedOrigins.add(OktaTrustedOrigin("http://a.test", allowsCORS: false), within: OktaTrustedOrigin.bound)
        for extent in [StateExtent.changes, .whole] {
            let written = try #require(vendor.export(state, extent))
            var read = try vendor.state(
                importing: FixtureNode(written, from: "export"), extent, over: vendor.initialState)
            #expect(vendor.export(read, extent) == written)
            #expect(read.trustedOrigins.all.map(\.origin) == ["http://a.test"])
            let isAnother = read.use(.proof, "a", of: "T1", until: moment, at: moment)
            #expect(!isAnother)
            guard extent == .changes else { continue }
            let (known, window) = (
                read.proofNonces(at: moment, IdentifierSource(seed: 2)), read.count(key, at: moment)
            )
            #expect(known == nonces)
            #expect(window.count == 2)
        }
    }

    @Test("keeps few nonces, even of a clock that jumps")
    func bounds() {
        var state = vendor.initialState
        let identifiers = IdentifierSource(seed: 1)
        for day in 0..<100 { _ = state.proofNonces(at: moment + .seconds(Double(day) * 86_400), identifiers) }
        #expect(state.proofNonces.count == 8)
        let good = state.proofNonces(at: moment + .seconds(99 * 86_400), identifiers)
        #expect(good.count == 3)
        let back = state.proofNonces(at: moment, identifiers)
        #expect(back.count == 8 && back.last == state.proofNonces.all.last?.id, "those of the future still count")
    }
}
