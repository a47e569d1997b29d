import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// A token that was wrong on purpose, known by its text.
struct OktaBentToken: Sendable, Equatable {
    var digest = ""
    /// The names of the rules that made it wrong.
    var rules: [String] = []

    init() {}

    init(of text: String, rules: [String]) {
        digest = Self.digest(of: text)
        self.rules = rules
    }

    static func digest(of text: String) -> String { Base64URL.encode(Digest.sha256(Array(text.utf8))) }
}

extension OktaBentToken: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(digest) }

    func clash(over name: Never?) -> String { "the token \(digest) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("digest", &digest)
        coder.member("rules", &rules)
    }
}

extension Okta {
    /// The check that notes which rule made a presented token wrong.
    static let claimRuleNote = "claim_rule"
    static let verifiableNotes = [claimRuleNote]

    /// Notes which rules made the presented tokens wrong.
    func noteBentTokens(_ call: inout OktaCall, _ state: OktaState) {
        guard state.bentTokens.count > 0 else { return }
        let field = call.request.fields[.authorization]?.split(separator: " ").last.map(String.init)
        let parameters = ["token", "id_token_hint", "subject_token", "actor_token", "assertion"].compactMap {
            call.credentials.parameters[$0]
        }
        for text in [field].compactMap(\.self) + parameters {
            for rule in state.bentTokens[ExactText(OktaBentToken.digest(of: text))]?.rules ?? [] {
                call.findings.note(
                    Finding(
                        Self.claimRuleNote, .noted, found: .text(rule),
                        note: "The token was made wrong by this rule.", source: "ours"))
            }
        }
    }
}
