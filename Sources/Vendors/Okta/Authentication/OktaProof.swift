import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// A proof that the sender of a request has a private key (RFC 9449 section 4.2).
final class OktaProof: Sendable {
    /// Source: ref.
    static let algorithms: [Algorithm] = [.rs256, .rs384, .rs512, .es256, .es384, .es512]

    let compact: CompactToken
    let key: OktaProofKey

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        key = OktaProofKey.of(compact)
    }

    /// The proof of a request; `nil` without one, and for several, of which none counts.
    convenience init?(_ fields: FieldLines) {
        guard !fields.isRepeated(.dpop), let bytes = fields.bytes(of: .dpop) else { return nil }
        self.init(bytes: Array(bytes))
    }

    /// The algorithm of the header, if it is an accepted one.
    var algorithm: Algorithm? { compact.namedAlgorithm(among: Self.algorithms) }

    /// The id with which each proof of a key is used once.
    var id: String? { compact.claims?["jti"]?.string }
}

enum OktaProofKey: Sendable {
    case absent
    /// What is there cannot verify anything, or is not public.
    case unusable(KeyError)
    /// - Parameter thumbprint: as in `cnf.jkt` of bound tokens (RFC 9449 section 6.1).
    case usable(VerificationKey, thumbprint: String)

    /// A client sends the same header with each proof, and reading a key takes longer than finding it here.
    private static let recent = RecentReadings<OktaProofKey>()

    static func of(_ token: CompactToken) -> OktaProofKey {
        guard let header = token.header else { return .absent }
        return recent.reading(of: token.bytes.prefix { $0 != UInt8(ascii: ".") }) { _ in OktaProofKey(header["jwk"]) }
    }

    private init(_ jwk: JSON?) {
        guard let jwk else {
            self = .absent
            return
        }
        do throws(KeyError) {
            let key = try VerificationKey.jwk(jwk)
            // Only secrets have no thumbprint, and they are refused.
            guard let thumbprint = key.thumbprint else { throw KeyError.sharedSecret }
            self = .usable(key, thumbprint: thumbprint)
        } catch {
            self = .unusable(error)
        }
    }

    var thumbprint: String? { if case .usable(_, let thumbprint) = self { thumbprint } else { nil } }
}

struct OktaProofFacts: OktaRuleFacts {
    struct Access: Sendable {
        let isUnderDPoP: Bool
        /// The thumbprint of the key that it is bound to; `nil` for none.
        let boundKey: String?
        /// What `ath` has to be (RFC 9449 section 4.2).
        let hash: String
        let token: [UInt8]
    }

    let switches: OktaSwitches
    let moment: Moment
    let method: HTTPRequest.Method
    let path: String
    let sandbox: SandboxIdentity
    /// How many lines `DPoP` the request has.
    let lineCount: Int
    let proof: OktaProof?
    /// `nil` at the token endpoint.
    let access: Access?

    // What only the state knows.

    /// The nonces that are valid now, the newest last.
    var nonces: [String] = []
    /// Whether the key has signed a proof with the same id before.
    var isReplayed = false
    /// The thumbprint that the presented refresh token is bound to.
    var refreshKey: String?

    init(_ arrival: OktaArrival, beside access: Access? = nil) {
        (switches, moment) = (arrival.switches, arrival.moment)
        (method, path) = (arrival.request.method, String(arrival.request.path))
        sandbox = arrival.sandbox
        lineCount = arrival.request.fields.count(of: .dpop)
        proof = OktaProof(arrival.request.fields)
        self.access = access
    }

    var compact: CompactToken? { proof?.compact }

    /// The addresses that `htu` may name: those of the request in each form in which clients select the sandbox.
    var addresses: [String] { sandbox.addresses.map { $0 + path } }
}

/// A proof that was judged as far as that is possible without the state.
///
/// A class, since few requests have one, and what they present is copied often.
final class OktaProofCheck: Sendable {
    let rules: RuleList<OktaProofFacts>
    let facts: OktaProofFacts
    let outcomes: RuleOutcomes

    init(_ facts: OktaProofFacts, by rules: RuleList<OktaProofFacts>) {
        var (facts, outcomes) = (facts, RuleOutcomes())
        rules.judgeFirst(&facts, &outcomes)
        (self.rules, self.facts, self.outcomes) = (rules, facts, outcomes)
    }
}

extension Okta {
    /// Judges as much as needs no state, above all the signature. Access tokens are known by then.
    func judgeProof(of arrival: OktaArrival, _ credentials: inout OktaCredentials) {
        switch arrival.route.access {
        case .client(.tokens):
            guard let client = credentials.client else { return }
            let isBound = arrival.switches.optionalProof == .bind && arrival.request.fields.bytes(of: .dpop) != nil
            guard client.bindsTokens || isBound else { return }
            credentials.proof = OktaProofCheck(OktaProofFacts(arrival), by: OktaProofRules.tokens)
        case .bearer, .api:
            guard let access = OktaProofFacts.Access(arrival, credentials.claims) else { return }
            credentials.proof = OktaProofCheck(OktaProofFacts(arrival, beside: access), by: OktaProofRules.resources)
        case .open, .published, .browser, .signIn, .client, .device: return
        }
    }

    /// Judges the rest, and notes that the proof was used unless anything about the request was wrong.
    func judgeProof(_ call: inout OktaCall, _ state: inout OktaState) {
        let refreshKey = Self.refreshKey(of: call, in: state)
        // A bound refresh token stays bound, even if its client needs no proofs any more.
        let bound = refreshKey.map { _ in OktaProofCheck(OktaProofFacts(call.arrival), by: OktaProofRules.tokens) }
        guard let check = call.credentials.proof ?? bound else { return }
        var (facts, outcomes) = (check.facts, check.outcomes)
        facts.refreshKey = refreshKey
        let use = facts.proof.flatMap { OktaUsedID($0, at: call.moment) }
        if let use, let earlier = state.usedIDs[use.key] { facts.isReplayed = earlier.until >= call.moment }
        let nonce = facts.access == nil ? call.switches.tokenNonce : call.switches.resourceNonce
        if nonce == .require, facts.proof != nil { facts.nonces = state.proofNonces(at: call.moment, call.identifiers) }
        check.rules.judgeLater(&facts, &outcomes)
        call.findings.record(facts, outcomes, by: check.rules)
        guard call.findings.failure == nil else { return }
        if let use { state.usedIDs.add(use, within: OktaState.bound) }
        // A client that still uses an earlier nonce gets the current one (RFC 9449 section 8.2).
        guard let current = facts.nonces.last, let sent = facts.compact?.claims?["nonce"]?.string else { return }
        if !sent.hasSameBytes(as: current) { call.answerFields[.dpopNonce] = current }
    }

    /// The thumbprint that the presented refresh token of the client is bound to.
    private static func refreshKey(of call: OktaCall, in state: OktaState) -> String? {
        let parameters = call.credentials.parameters.unnoted
        guard call.route.access == .client(.tokens), let client = call.credentials.client,
            parameters["grant_type"]?.hasSameBytes(as: OktaGrantType.refreshToken.rawValue) == true,
            let token = parameters["refresh_token"].flatMap({ state.refreshTokens[$0] }),
            let authorization = state.grants[token.grant]?.authorization,
            authorization.clientID.hasSameBytes(as: client.id)
        else { return nil }
        return authorization.proofKey
    }
}

extension OktaProofFacts.Access {
    /// The access token of a request; `nil` when a proof has nothing to do with it.
    ///
    /// - Parameter claims: the token's, trusted or not.
    fileprivate init?(_ arrival: OktaArrival, _ claims: JSONObject?) {
        guard let claims else { return nil }
        let boundKey = claims["cnf"]?["jkt"]?.string
        let fields = arrival.request.fields
        // Nearly all tokens are unbound ones under Bearer, as the first letter shows.
        guard boundKey != nil || fields.bytes(of: .authorization)?.first.map({ $0 | 0x20 }) == UInt8(ascii: "d")
        else { return nil }
        let bearer = BearerToken(fields, orOf: "dpop")
        guard boundKey != nil || bearer.usesOtherScheme, let token = bearer.bytes else { return nil }
        (isUnderDPoP, self.boundKey) = (bearer.usesOtherScheme, boundKey)
        self.token = Array(token)
        hash = Base64URL.encode(Digest.sha256(self.token))
    }
}

extension OktaUsedID {
    /// ours: proofs are too old after 300 s, and may come 60 s too early.
    private static let proofMemory = Duration.seconds(600)

    /// The use of a proof; `nil` for a proof without an id or a key.
    fileprivate init?(_ proof: OktaProof, at moment: Moment) {
        guard let id = proof.id, let thumbprint = proof.key.thumbprint else { return nil }
        self.init(kind: .proof, owner: thumbprint, id: id, until: moment + Self.proofMemory)
    }
}

extension OktaCredentials {
    /// The thumbprint of the key that the request proves to have; only valid once the call has passed its checks.
    var proofKey: String? { proof?.facts.proof?.key.thumbprint }
}

extension SandboxIdentity {
    /// The addresses of the sandbox, one for each way in which clients name it.
    var addresses: [String] { publicBase.addresses(of: name) }
}

/// An address on the web, reduced to what counts when two are compared: scheme, host, port and path.
///
/// The case of scheme and host, the scheme's own port, query and fragment do not count (RFC 3986 section 6.2, RFC 9449
/// section 4.3).
struct OktaAddress: Hashable, Sendable {
    /// Scheme, host and port as browsers write them in `Origin` (RFC 6454 section 6.2).
    let origin: ExactText
    /// Decoded, since clients escape other characters in a proof than on the wire (observed, pysdk); `/` for none.
    let path: ExactText

    /// Reads an address; `nil` unless it is an absolute one of http or https, without user information.
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let port = Self.ports[scheme] else { return nil }
        let rest = text[mark.upperBound...]
        let end = rest.utf8.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        var authority = rest[..<(end ?? rest.endIndex)].lowercased()
        if authority.hasSuffix(port) {
            authority.removeLast(port.count)
        } else if authority.last == ":" {
            authority.removeLast()
        }
        guard !authority.isEmpty, !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        origin = ExactText("\(scheme)://\(authority)")
        let path = rest[(end ?? rest.endIndex)...].utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let text = path.isEmpty ? "/" : Substring(path)
        self.path = ExactText(PercentEncoding.decode(text) ?? text)
    }

    private static let ports = ["http": ":80", "https": ":443"]
}
