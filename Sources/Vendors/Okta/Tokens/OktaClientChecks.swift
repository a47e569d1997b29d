import Emulation
import OktaValidator
import Tokens

/// What clients of Okta check before they trust a token: the rules of the validator.
extension Okta {
    static let checkers = [TokenChecker.okta]

    /// Inside the server, tokens are judged by the sandbox's own keys.
    func checkerSettings(in state: OktaState, _ switches: OktaSwitches) -> CheckerSettings {
        let keys = issuers(in: state).flatMap(\.published).map(\.key.verificationKey)
        return CheckerSettings(
            key: .set(keys), profile: switches.validatorProfile == .observed ? .observed : .documented)
    }
}
