import Emulation
import JSON
import Tokens

/// Makes one answer wrong by the claim rules that fit it, and keeps what it did.
///
/// A rule counts an answer only if it changed something: one that removes the nonce waits for a token that has one (ours).
struct OktaBender {
    /// What a rule did to a token or an answer.
    private struct Act {
        let rule: ExactText
        let target: OktaClaimRule.Target
        let changes: [JSON]
    }

    /// The rules that fit, oldest first.
    private let rules: [OktaClaimRule]
    private let call: OktaCall
    private var acts: [Act] = []
    private var remarks: [Finding] = []
    private var tokens: [OktaBentToken] = []

    /// A bender for an answer; `nil` when no rule fits, as nearly always.
    init?(_ call: OktaCall, _ state: OktaState, for occasion: OktaOccasion) {
        guard state.claimRules.count > 0 else { return nil }
        rules = state.claimRules.all.filter { $0.fits(occasion) }
        guard !rules.isEmpty else { return nil }
        self.call = call
    }

    mutating func bend(_ members: inout JSONObject, as target: OktaClaimRule.Target) {
        for rule in rules where rule.target.covers(target) {
            let before = members
            change(&members, by: rule)
            note(rule, target, Self.changes(from: before, to: members))
        }
    }

    /// Bends and signs a token; `nil` when the key cannot sign it.
    mutating func token(
        _ draft: UnsignedToken, of issuer: IssuerKeys, as target: OktaClaimRule.Target, at moment: Moment
    ) -> String? {
        var draft = draft
        for rule in rules where rule.target.covers(target) {
            // A token has room for one defect of the signature.
            if let name = rule.defect, OktaDefect(rawValue: name) == nil, draft.defect != nil { continue }
            let before = draft.content
            change(&draft.content.claims, by: rule)
            set(rule.header, in: &draft.content.header, among: before.claims)
            var changes: [JSON] = []
            if let name = rule.defect {
                guard let broken = spoiled(draft, of: issuer, by: name, of: rule) else { continue }
                draft = broken
                changes.append(["defect": .string(name)])
            }
            changes += Self.changes(from: before.header, to: draft.content.header, in: "header")
            changes += Self.changes(from: before.claims, to: draft.content.claims)
            note(rule, target, changes)
        }
        guard let text = try? draft.signed(at: moment).token else { return nil }
        let names = acts.filter { $0.target == target }.map(\.rule.text)
        if !names.isEmpty { tokens.append(OktaBentToken(of: text, rules: names)) }
        return text
    }

    /// Counts the rules down, remembers the tokens, and tells the journal.
    ///
    /// The last step of an answer: a refused request uses up nothing.
    func settle(_ call: inout OktaCall, _ state: inout OktaState) {
        for rule in rules where acts.contains(where: { $0.rule == rule.key }) {
            guard let left = rule.left else { continue }
            if left > 1 {
                state.claimRules.change(rule.key) { $0.left = left - 1 }
            } else {
                state.claimRules.remove(rule.key)
            }
        }
        for token in tokens { state.bentTokens.add(token, within: OktaState.shortBound) }
        call.interventions += acts.map { act in
            let left = rules.first { $0.key == act.rule }?.left
            return [
                "claim_rule": .string(act.rule.text), "of": .string(act.target.rawValue),
                "changes": .array(act.changes), "left": left.map { JSON($0 - 1) } ?? "always",
            ]
        }
        call.findings.note(remarks)
    }

    // MARK: - What a rule does

    private func change(_ members: inout JSONObject, by rule: OktaClaimRule) {
        set(rule.values, in: &members, among: members)
        for name in rule.removed { members[name] = nil }
    }

    /// Sets members; each counts from what the others would be without the rule.
    ///
    /// - Parameter claims: what templates see as claims.
    private func set(_ changes: JSON, in members: inout JSONObject, among claims: JSONObject) {
        let before = members
        for member in changes.object ?? [:] {
            // The rule was checked when it was made.
            guard let change = try? OktaMemberChange(member.value) else { continue }
            // A value that would exceed the limits of templates is left out.
            let value = change.value(of: member.name, in: before) { try? $0.body(for: call, claims: claims) }
            if let value { members[member.name] = value }
        }
    }

    /// The token with a defect; `nil`, with a remark, when that is impossible, as without a retired key.
    private mutating func spoiled(
        _ draft: UnsignedToken, of issuer: IssuerKeys, by name: String, of rule: OktaClaimRule
    ) -> UnsignedToken? {
        var draft = draft
        do throws(MintRefusal) {
            if let defect = OktaDefect(rawValue: name) {
                try defect.apply(to: &draft, of: issuer)
            } else {
                draft.defect = name
                _ = try draft.signed(at: call.moment)
            }
            return draft
        } catch {
            remarks.append(
                Finding(
                    "claim-rule-idle", .noted, expected: .text("a token that can have the defect \(name)"),
                    found: .text(rule.name), note: error.description, source: "ours"))
            return nil
        }
    }

    private mutating func note(_ rule: OktaClaimRule, _ target: OktaClaimRule.Target, _ changes: [JSON]) {
        if !changes.isEmpty { acts.append(Act(rule: rule.key, target: target, changes: changes)) }
    }

    // MARK: - What it changed

    private static func changes(
        from before: JSONObject, to after: JSONObject, in part: String? = nil
    ) -> [JSON] {
        var names = before.map(\.name)
        names += after.map(\.name).filter { before[$0] == nil }
        return names.compactMap { name in
            let (old, new) = (before[name], after[name])
            if old == new { return nil }
            return [
                "member": .string(part.map { "\($0).\(name)" } ?? name), "would_be": shown(old, of: name),
                "is": shown(new, of: name),
            ]
        }
    }

    /// The value for the journal; of secrets, whether there is one.
    private static func shown(_ value: JSON?, of name: String) -> JSON {
        guard let value else { return .null }
        return Okta.secrets.contains(name) ? "***" : value
    }
}
