import ArgumentParser
import Emulation

/// The options of `token verify` that only vendors' clients take.
struct ClientOptions: ParsableArguments {
    @Option(help: "The expected cid claim.")
    var cid: String?

    @Option(help: "The scopes that must be granted, separated by spaces.")
    var scp: String?

    @Option(help: "The expected typ in the header, if it has one.")
    var typ: String?

    @Flag(inversion: .prefixedNo, help: "Whether to judge exp (default: the client's own).")
    var exp: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether to judge iat (default: the client's own).")
    var iat: Bool?

    @Option(help: "A file with the key as a JWK; without a key the client asks the issuer.", completion: .file())
    var jwk: String?

    @Option(
        help: "A file with an RSA key or a certificate, PEM or DER; the token need not name the key.",
        completion: .file())
    var rsaKey: String?

    @Option(help: "How the client behaves: documented or observed.", completion: .profileNames)
    var profile: String?

    @Option(help: "How many seconds before exp the client wants a new token (default: the client's own).")
    var nearExpiry: Int?

    var given: [CheckerOption] {
        [
            (CheckerOption.clientID, cid != nil), (.scopes, scp != nil), (.type, typ != nil), (.expiry, exp != nil),
            (.issuedAt, iat != nil), (.jwk, jwk != nil), (.rsaKey, rsaKey != nil), (.profile, profile != nil),
            (.nearExpiry, nearExpiry != nil),
        ].filter(\.1).map(\.0)
    }
}

extension BehaviourProfile {
    static var names: [String] { allCases.map(\.rawValue) }
}

extension CheckerOption {
    var typed: String {
        let isFlag = self == .expiry || self == .issuedAt
        return isFlag ? "--\(rawValue)/--no-\(rawValue)" : "--\(rawValue)"
    }
}

extension [CheckerOption] {
    /// The options as they are typed, separated by commas.
    var typed: String { map(\.typed).joined(separator: ", ") }
}
