import Emulation
import JSON
import Tokens

/// Something besides the password with which a user signs in.
struct OktaFactor: Sendable {
    /// Source: postman, api.
    enum Kind: String, CaseIterable, RecordValue {
        case push, sms, call
        case totp = "token:software:totp"
    }

    /// Source: api.
    enum Status: String, CaseIterable, RecordValue { case active = "ACTIVE", pendingActivation = "PENDING_ACTIVATION" }

    var id = ""
    var userID = ""
    var kind = Kind.push
    var status = Status.active
    /// Push: the device's public key as a JWK.
    var publicKey: JSON?
    /// Push, in the fixtures: the device's key pair, with which answers can be minted.
    var device: KeyFile?
    /// TOTP: the shared secret in base32.
    var secret: String?
    var phone: String?
    /// Push: the number that the user must choose on the device; `nil` for none.
    var numberChallenge: String?
    /// TOTP: the step of the last code that was used, since each is good for one use (ours).
    var lastStep: Int?
    /// SMS and voice: the code that was sent last.
    var sentCode: String?
    var created = Moment(unixSeconds: 0)
}

extension OktaFactor: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var group: ExactText? { ExactText(userID) }
    var secretText: String? { secret }

    func clash(over name: Never?) -> String { "another factor is \(id)" }

    mutating func keepSecrets(of known: OktaFactor, leftOutBy extent: StateExtent?) {
        // Only the fixtures name a file.
        if publicKey == nil { device = known.device }
        if extent == .whole { (secret, sentCode) = (secret ?? known.secret, sentCode ?? known.sentCode) }
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("user", &userID)
        coder.member("type", &kind)
        coder.member("status", &status, or: .active)
        coder.member("public_key", &publicKey)
        if case .fixture(let fixtures) = coder.form {
            coder.member("key", &device, or: .some(nil), write: { _ in nil }) { (node) throws(FixtureProblem) in
                try KeyFile(node, fixtures)
            }
        }
        coder.secret("secret", &secret)
        coder.member("phone", &phone)
        coder.member("number_challenge", &numberChallenge)
        coder.member("last_step", &lastStep, in: 0...Int(Int32.max) * 8)
        coder.secret("sent_code", &sentCode)
        coder.member("created", &created, or: Moment(unixSeconds: 0))
    }

    /// The device's public key.
    var verificationKey: VerificationKey? {
        if let publicKey { return try? VerificationKey.jwk(publicKey) }
        return (try? device?.read())?.verificationKey
    }
}
