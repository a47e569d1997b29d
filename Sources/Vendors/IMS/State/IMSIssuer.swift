import Emulation
import JSON
import Synchronization
import Tokens

/// An issuer whose tokens are accepted: how it was onboarded, and its keys as they are now.
///
/// It never changes; newly fetched keys make another one. So what was verified with its keys can be kept beside them.
final class IMSIssuer: Sendable {
    let record: IMSIssuerRecord
    let ring: IMSKeyRing
    /// What is known of the published keys; `nil` for keys that are at hand.
    let remote: RemoteKeys?
    /// Where they are published, as far as it can be read.
    let keyURL: IMSKeyURL?
    /// What cannot be used of keys that are at hand.
    private let skipped: [SkippedKey]
    /// Tells this issuer from all others, also when they are gone.
    let number = IMSIssuer.numbers.add(1, ordering: .relaxed).newValue
    private static let numbers = Atomic(0)

    /// An issuer with keys that are at hand.
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

    /// The issuer with what is known of its keys now; what was verified with them stays known until others come.
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
        // In the order of the request's members, and as they are in force: what the issuer leaves open, the switches say.
        for member in rules.prefix(5) { answer[member.name] = member.value }
        answer["max_lifetime_seconds"] = maximumLifetime(switches).map { JSON($0) } ?? .null
        for member in rules.dropFirst(5) { answer[member.name] = member.value }
        answer["expiry_leeway_seconds"] = JSON(expiryLeeway(switches))
        answer["not_before_leeway_seconds"] = JSON(notBeforeLeeway(switches))
        answer["created_at"] = Self.time(record.created)
        answer["warnings"] = .array(warnings(at: moment).map(JSON.string))
        return .object(answer)
    }

    /// ours: whoever has so many mistakes in a set has one.
    private static let mostSkipped = 10

    private static func time(_ moment: Moment?) -> JSON { moment.map { JSON($0.wholeSeconds) } ?? .null }

    /// What was left out of the keys that are at hand, or by the last attempt to fetch some.
    var skippedKeys: [SkippedKey] { remote?.lastReport?.skipped ?? skipped }

    /// What an operator should know: names, behind which the first of the keys that are left out say why.
    private func warnings(at moment: Moment) -> [String] {
        var warnings: [String] = []
        if remote?.lastReport?.problem != nil { warnings.append("jwks-unreachable") }
        // Private ones first: of many only some are told.
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
    /// The issuer's own rule beats the switch.
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
