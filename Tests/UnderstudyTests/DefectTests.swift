import Emulation
import JSON
import Support
import Testing
import Tokens

/// A defect that nobody can tell from a sound token is no defect.
@Suite("Defects of all vendors")
struct DefectTests {
    /// What a vendor finds on a token.
    ///
    /// - Parameter values: whether what was found counts, which also differs from token to token.
    private static func findings(_ explanation: TokenExplanation, values: Bool) -> [String] {
        [explanation.failure ?? "accepted", values ? explanation.account ?? "nobody" : ""]
            + explanation.findings.map { finding in
                let isThere = finding.found != nil && finding.found != .absent
                let found = values ? "\(finding.found ?? .absent)" : "\(isThere)"
                return "\(finding.check) \(finding.outcome.rawValue) \(found) \(finding.note ?? "")"
            }
    }

    /// The defects of a kind, that of a missing member for each member which a sound token has.
    private static func defects(of kind: TokenKind, _ sound: CompactToken) -> [String] {
        let members = (sound.header.map(Array.init) ?? []) + (sound.claims.map(Array.init) ?? [])
        let missing = Set(members.map { "missing-\($0.name)" }).sorted()
        return kind.defects + Defect.names.filter { $0 != "missing-CLAIM" } + missing
    }

    @Test("each defect that a vendor makes changes what the vendor finds, and each that it refuses says why")
    func effects() async throws {
        let world = try await World()
        var count = 0
        for (index, vendor) in world.emulator.vendors.enumerated() {
            let (cell, now) = (world.sandbox.cell(index), world.sandbox.now)
            for kind in vendor.tokenKinds {
                let sound = try cell.mint(MintOrder(kind: kind.name), at: now).token
                for defect in Self.defects(of: kind, CompactToken(sound)) {
                    count += 1
                    let name = "\(vendor.identity.id) \(kind.name) \(defect)"
                    // One of the vendor's own may need the request to show; then the token says something else at least.
                    let isOwn = kind.defects.contains(defect)
                    func findings(_ token: String) -> [String] {
                        let explanation = cell.explain(token, knowing: [:], at: now)
                        let claims = isOwn ? [CompactToken(token).claims.map { JSON.object($0).text } ?? ""] : []
                        return Self.findings(explanation, values: isOwn) + claims
                    }
                    do {
                        let order = MintOrder(kind: kind.name, members: ["defect": .string(defect)])
                        let token = try cell.mint(order, at: now).token
                        if findings(token) == findings(sound) {
                            Issue.record("\(name) changes nothing: \(findings(sound))")
                        }
                    } catch {
                        if error.description.isEmpty { Issue.record("\(name) is refused without a reason") }
                    }
                }
            }
        }
        #expect(count > 100)
    }
}
