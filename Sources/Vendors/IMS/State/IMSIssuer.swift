import Emulation
import JSON
import Synchronization
import Tokens

/// An issuer whose tokens are accepted: how it was onboarded, and its current keys.
///
/// Immutable; newly fetched keys make a new issuer. So results verified with its keys can be cached with them.
final class IMSIssuer: Sendable {
    let record: IMSIssuerRecord
    let ring: IMSKeyRing
    /// What is known of the published keys; `nil` for local keys.
    let remote: RemoteKeys?
    /// Where they are published, if the URL can be parsed.
    let keyURL: IMSKeyURL?
    /// Unusable entries among local keys.
    private let skipped: [SkippedKey]
    /// Identifies this issuer among all that ever existed.
    let number = IMSIssuer.numbers.add(1, ordering: .relaxed).newValue
    private static let numbers = Atomic(0)

    /// An issuer with local keys.
    init(_ record: IMSIssuerRecord, keys: [VerificationKey], skipped: [SkippedKey] = []) {
        self.record = record
        self.skipped = skipped
        ring = IMSKeyRing(keys)
        remote = nil
        keyURL = nil
    }

    /// An issuer with what was fetched so far.
    init(_ record: IMSIssuerRecord, remote: RemoteKeys) {
        self.record = record
        skipped = []
        ring = IMSKeyRing(remote.keys)
        keyURL = IMSKeyURL(remote.url)
        self.remote = remote
    }

    /// The issuer with its current keys; results verified with the old keys are kept until the keys change.
    init(_ other: IMSIssuer, remote: RemoteKeys) {
        record = other.record
        skipped = []
        let isSame = remote.fetchCount == other.remote?.fetchCount && remote.fetchedAt == other.remote?.fetchedAt
        ring = isSame ? other.ring : IMSKeyRing(remote.keys)
        keyURL = other.remote?.url == remote.url ? other.keyURL : IMSKeyURL(remote.url)
        self.remote = remote
    }

    /// The issuer as requests see it.
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
    var skippedKeys: [SkippedKey] { remote?.lastReport?.skipped ?? skipped }

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
}

// MARK: - Rules

extension IMSIssuer {
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
