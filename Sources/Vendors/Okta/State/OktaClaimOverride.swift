import Emulation
import JSON

/// Claims that all tokens of a kind have from now on, in place of their own or besides them, so that an app's checks can
/// be tested (ours).
struct OktaClaimOverride: Sendable, Equatable {
    enum Target: String, CaseIterable, RecordValue { case access, id }

    static let bound = RecordBound(count: Target.allCases.count)

    var target = Target.access
    /// Constants; a claim that is null is left out.
    var claims: JSON = [:]

    func apply(to claims: inout JSONObject) {
        for claim in self.claims.object ?? [:] {
            claims[claim.name] = claim.value.isNull ? JSON?.none : claim.value
        }
    }

    /// What the journal says of a token that was changed.
    var intervention: JSON {
        [
            "claim_override": .string((claims.object ?? [:]).map(\.name).joined(separator: ", ")),
            "of": .string(target.rawValue),
        ]
    }
}

extension OktaClaimOverride: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(target.rawValue) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("of", &target)
        coder.member("claims", &claims)
        coder.check(claims.object != nil, or: "claims is a JSON \(claims.typeName), not an object")
        coder.check(claims.bytes.count <= OktaSignIn.longestClaims, or: "claims has \(claims.bytes.count) bytes")
    }
}

extension Okta {
    static let claimActions: [VendorAction<Okta>] = [
        VendorAction(
            "claim-override",
            about: "Sets claims of all coming tokens, in place of the overrides before; {} ends them.",
            members: [
                ActionMember("of", "access or id; both"),
                ActionMember("claims", "an object of constants; null leaves a claim out", isRequired: true),
            ]
        ) { (call, state) throws(ActionRefusal) in
            let (target, claims) = try call.read { members in
                (
                    members.choice("of", of: OktaClaimOverride.Target.self),
                    members.object("claims", isRequired: true) ?? [:]
                )
            }
            let value = JSON.object(claims)
            guard value.bytes.count <= OktaSignIn.longestClaims else {
                throw ActionRefusal(
                    "claims has \(value.bytes.count) bytes; expected at most \(OktaSignIn.longestClaims)")
            }
            for target in target.map({ [$0] }) ?? OktaClaimOverride.Target.allCases {
                let override = OktaClaimOverride(target: target, claims: value)
                state.claimOverrides.remove(override.key)
                if !claims.isEmpty { state.claimOverrides.store(override) }
            }
            return ["claim_overrides": .array(state.claimOverrides.all.map { $0.json(.whole) })]
        }
    ]
}
