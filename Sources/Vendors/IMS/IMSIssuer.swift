import Emulation
import JSON
import Synchronization
import Tokens

/// An issuer whose tokens are accepted: how it was onboarded, and its current keys.
///
/// Immutable; newly fetched keys make a new issuer. So results verified with its keys can be cached with them.
final class IMSIssuer: Sendable {
    let record: IMSIssuerRecord
    private let made = AtomicLazyReference<IMSKeyRing>()
    private let makeRing: @Sendable () -> IMSKeyRing
    /// The ring of keys that are known from the beginning: the lazy reference looks up its type at each use.
    private let known: IMSKeyRing?
    /// What is known of the published keys; `nil` for local keys.
    let remote: RemoteKeys?
    /// Where they are published, if the URL can be parsed.
    let keyURL: IMSKeyURL?

    /// An issuer with local keys that are read when they are first needed.
    init(_ record: IMSIssuerRecord, ring: @escaping @Sendable () -> IMSKeyRing) {
        self.record = record
        (known, makeRing) = (nil, ring)
        remote = nil
        keyURL = nil
    }

    convenience init(_ record: IMSIssuerRecord, keys: [VerificationKey], skipped: [SkippedKey] = []) {
        let ring = IMSKeyRing(keys, skipped: skipped)
        self.init(record) { ring }
    }

    /// An issuer with what was fetched so far; results verified with the keys of an earlier one are kept until they change.
    init(_ record: IMSIssuerRecord, remote: RemoteKeys, after earlier: IMSIssuer? = nil) {
        self.record = record
        let isSame = remote.fetchCount == earlier?.remote?.fetchCount && remote.fetchedAt == earlier?.remote?.fetchedAt
        let ring = (isSame ? earlier?.ring : nil) ?? IMSKeyRing(remote.keys)
        (known, makeRing) = (ring, { ring })
        keyURL = earlier?.remote?.url == remote.url ? earlier?.keyURL : IMSKeyURL(remote.url)
        self.remote = remote
    }

    var ring: IMSKeyRing { known ?? made.load() ?? made.storeIfNil(makeRing()) }

    func json(at moment: Moment, _ switches: IMSSwitches) -> JSON {
        var answer = record.head
        answer["keys"] = [
            "type": .string(record.source.kind.rawValue), "url": JSON(record.source.url),
            "kids": .array(ring.keys.map { JSON($0.id) }), "fetched_at": Self.time(remote?.fetchedAt),
            "expires_at": Self.time(remote?.expiresAt),
        ]
        let rules = record.rules
        // In the order of the request's members; the switches fill in what the issuer leaves open.
        for member in rules.prefix(5) { answer[member.name] = member.value }
        answer["max_lifetime_seconds"] = maximumLifetime(switches).map { JSON($0) } ?? .null
        for member in rules.dropFirst(5) { answer[member.name] = member.value }
        answer["expiry_leeway_seconds"] = JSON(expiryLeeway(switches))
        answer["not_before_leeway_seconds"] = JSON(notBeforeLeeway(switches))
        answer["created_at"] = Self.time(record.created)
        answer["warnings"] = .array(warnings(at: moment).map(JSON.string))
        return .object(answer)
    }

    /// ours: the maximum number of skipped keys that warnings explain.
    private static let mostSkipped = 10

    private static func time(_ moment: Moment?) -> JSON { moment.map { JSON($0.wholeSeconds) } ?? .null }

    /// The entries skipped among local keys, or by the last attempt to fetch some.
    var skippedKeys: [SkippedKey] { remote?.lastReport?.skipped ?? ring.skipped }

    /// Warnings for operators: names, followed by reasons for the first skipped keys.
    private func warnings(at moment: Moment) -> [String] {
        var warnings: [String] = []
        if remote?.lastReport?.problem != nil { warnings.append("jwks-unreachable") }
        // Private ones first: only some of many are shown.
        let skipped = skippedKeys.filter(\.isPrivate) + skippedKeys.filter { !$0.isPrivate }
        warnings += skipped.prefix(Self.mostSkipped).map {
            "\($0.isPrivate ? "private-key-published" : "key-skipped"): \($0.description)"
        }
        if record.certificateDates == .ignore { return warnings }
        for key in ring.keys {
            guard let validity = key.validity, !validity.contains(moment.unixSeconds) else { continue }
            let warning = validity.finding(at: moment.unixSeconds).check
            if !warnings.contains(warning) { warnings.append(warning) }
        }
        return warnings
    }

    // MARK: - Rules

    /// The issuer's own rule overrides the switch.
    func maximumLifetime(_ switches: IMSSwitches) -> Int? {
        switch record.maximumLifetime {
        case .ofSwitch: switches.maximumLifetimeSeconds
        case .unlimited: nil
        case .seconds(let seconds): seconds
        }
    }

    func expiryLeeway(_ switches: IMSSwitches) -> Int { record.expiryLeewaySeconds ?? switches.expiryLeewaySeconds }

    func notBeforeLeeway(_ switches: IMSSwitches) -> Int {
        record.notBeforeLeewaySeconds ?? switches.notBeforeLeewaySeconds
    }
}

struct IMSIssuerRecord: Sendable, Hashable {
    enum Environment: String, CaseIterable { case uat, production }
    enum Replay: String, CaseIterable { case off, bindDevice = "bind-device", singleUse = "single-use" }
    enum CertificateDates: String, CaseIterable { case warn, ignore, reject }

    enum LifetimeRule: Sendable, Hashable {
        case ofSwitch
        /// Unlimited, whatever the switch says.
        case unlimited
        case seconds(Int)
    }

    /// What differs by kind of provider; each rule can also be given individually.
    enum Preset: String, CaseIterable {
        case standard
        /// Keys in a map of certificates; the audience is the project, which ends `iss`. Source: the third party.
        case firebase
        /// No `typ`; the client's id is in `aud`, or in `client_id` of access tokens. Source: the third party; the
        /// mapping is ours.
        case cognito

        var requiresKeyID: Bool { self != .standard }
        var requiresType: Bool { self != .cognito }
        var tokenUse: String? { self == .cognito ? "id" : nil }

        func audience(of issuer: String) -> String? {
            guard self == .firebase else { return nil }
            let last = issuer.split(separator: "/", omittingEmptySubsequences: false).last
            return last.flatMap { $0.isEmpty ? nil : String($0) }
        }
    }

    /// The name in paths and control calls.
    let name: String
    /// The exact `iss`; `{base}` at its beginning is the address of this server (ours).
    let issuer: String
    let tenant: String
    /// Informative only.
    let environment: Environment
    let preset: Preset
    let source: IMSKeySource
    let requiresKeyID: Bool
    let requiresType: Bool
    let requiresTokenID: Bool
    let audience: String?
    let tokenUse: String?
    let maximumLifetime: LifetimeRule
    let replay: Replay
    let certificateDates: CertificateDates
    /// `nil` where the switch decides.
    let expiryLeewaySeconds: Int?
    /// `nil` where the switch decides.
    let notBeforeLeewaySeconds: Int?
    var created: Moment

    static let members = [
        "name", "issuer", "tenant", "environment", "preset", "keys", "require_kid", "require_typ", "require_jti",
        "audience", "token_use", "max_lifetime_seconds", "replay", "certificate_dates", "expiry_leeway_seconds",
        "not_before_leeway_seconds",
    ]

    /// Reads an issuer from a request; the source of its keys was read before.
    init(_ body: inout FieldReader, source: IMSKeySource, created: Moment) {
        name = body.name("name")
        issuer = body.text("issuer")
        tenant = body.name("tenant")
        environment = body.choice("environment") ?? .uat
        preset = body.choice("preset") ?? .standard
        self.source = source
        requiresKeyID = body.bool("require_kid") ?? preset.requiresKeyID
        requiresType = body.bool("require_typ") ?? preset.requiresType
        requiresTokenID = body.bool("require_jti") ?? false
        audience = body.nullableText("audience", or: preset.audience(of: issuer))
        tokenUse = body.nullableText("token_use", or: preset.tokenUse)
        if preset == .firebase, audience == nil, body["audience"] == nil {
            // Without an audience, tokens of every other project would pass.
            body.refuse("audience", "was not sent, and the issuer does not end with one; expected it")
        }
        let limit = "max_lifetime_seconds"
        maximumLifetime =
            body.isNull(limit)
            ? .unlimited : body.int(limit, in: 1...Self.century).map(LifetimeRule.seconds) ?? .ofSwitch
        replay = body.choice("replay") ?? .off
        certificateDates = body.choice("certificate_dates") ?? .warn
        expiryLeewaySeconds = body.int("expiry_leeway_seconds", in: 0...600)
        notBeforeLeewaySeconds = body.int("not_before_leeway_seconds", in: 0...600)
        self.created = created
    }

    /// ours: the longest accepted lifetime, in seconds.
    private static let century = 3_155_760_000

    /// The `iss` of its tokens when this server has that address.
    func issuer(at base: String) -> String {
        issuer.hasPrefix(PublicBase.placeholder) ? base + issuer.dropFirst(PublicBase.placeholder.count) : issuer
    }

    /// Whether `iss` would be that of the issuer at another address of this server.
    func isElsewhere(_ iss: String) -> Bool {
        let path = issuer.dropFirst(PublicBase.placeholder.count)
        return issuer.hasPrefix(PublicBase.placeholder) && !path.isEmpty && iss.hasSuffix(path)
    }

    var needsTokenID: Bool { requiresTokenID || replay != .off }
}

extension FieldReader {
    /// A text, or `null` for none; the standard when the member is absent.
    fileprivate mutating func nullableText(_ name: String, or standard: String?) -> String? {
        isNull(name) ? nil : optionalText(name, atLeast: 1) ?? standard
    }
}

// MARK: - As JSON

extension IMSIssuerRecord {
    /// The record as a request has it, with its creation time.
    var json: JSON {
        var record: JSONObject = head
        record["keys"] = source.given
        for member in rules { record[member.name] = member.value }
        record["max_lifetime_seconds"] = maximumLifetime.json
        record["expiry_leeway_seconds"] = expiryLeewaySeconds.map { JSON($0) }
        record["not_before_leeway_seconds"] = notBeforeLeewaySeconds.map { JSON($0) }
        record["created_at"] = created.written
        return .object(record)
    }

    /// The members before the keys.
    var head: JSONObject {
        [
            "name": .string(name), "issuer": .string(issuer), "tenant": .string(tenant),
            "environment": .string(environment.rawValue), "preset": .string(preset.rawValue),
        ]
    }

    /// The members after the keys whose values depend on no switch.
    var rules: JSONObject {
        [
            "require_kid": .bool(requiresKeyID), "require_typ": .bool(requiresType),
            "require_jti": .bool(requiresTokenID), "audience": JSON(audience), "token_use": JSON(tokenUse),
            "replay": .string(replay.rawValue), "certificate_dates": .string(certificateDates.rawValue),
        ]
    }
}

extension IMSIssuerRecord.LifetimeRule {
    /// The member of a request that expresses this rule; `nil` for none.
    var json: JSON? {
        switch self {
        case .ofSwitch: nil
        case .unlimited: .null
        case .seconds(let seconds): JSON(seconds)
        }
    }
}
