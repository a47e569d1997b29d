import Emulation
import JSON
import Tokens

/// One-time codes by the clock (RFC 6238), as authenticator apps make them.
struct OktaTOTP: Sendable {
    /// The length of a step. Source: postman, `timeStep`.
    static let stepSeconds = OneTimePassword.stepSeconds
    static let digitCount = 6

    private let passwords: OneTimePassword

    /// Reads a secret in base32; `nil` for anything else and for an empty one.
    init?(secret: String) {
        guard let key = Base32.decode(secret), !key.isEmpty else { return nil }
        passwords = OneTimePassword(secret: key)
    }

    /// A new secret of 160 bits, as RFC 4226 section 4 recommends.
    static func newSecret(_ identifiers: IdentifierSource) -> String { identifiers.text(32, of: Base32.alphabet) }

    static func step(at moment: Moment) -> Int { max(0, moment.wholeSeconds) / stepSeconds }

    func code(at step: Int) -> String { passwords.password(UInt64(max(0, step))) }

    /// The step whose code this is: that of a moment, or one beside it, since clocks differ (RFC 6238 section 5.2).
    func step(of code: String, at moment: Moment) -> Int? {
        let now = Self.step(at: moment)
        return [now, now - 1, now + 1].first { $0 >= 0 && self.code(at: $0).hasSameBytes(as: code) }
    }
}

/// Whether a one-time code is right.
enum OktaCodeVerdict {
    case right, wrong, used
}

extension OktaState {
    /// Judges a one-time code of a factor; a right one is then used up.
    mutating func use(code: String, of factor: OktaFactor, at moment: Moment) -> OktaCodeVerdict {
        switch factor.kind {
        case .totp:
            let codes = factor.secret.flatMap(OktaTOTP.init)
            guard let step = codes?.step(of: code, at: moment) else { return .wrong }
            // A use that lies beyond the next step is of a clock that was set back since.
            if let last = factor.lastStep, step <= last, last <= OktaTOTP.step(at: moment) + 1 { return .used }
            factors.change(factor.key) { $0.lastStep = step }
        case .sms, .call:
            guard factor.sentCode?.hasSameBytes(as: code) == true else { return .wrong }
            factors.change(factor.key) { $0.sentCode = nil }
        case .push: return .wrong
        }
        return .right
    }

    /// Sends a code to the phone of a factor: nobody gets it but those who ask for it by action.
    mutating func sendCode(to factor: OktaFactor, _ identifiers: IdentifierSource) {
        let code = identifiers.text(OktaTOTP.digitCount, of: Array("0123456789".utf8))
        factors.change(factor.key) { $0.sentCode = code }
    }
}
