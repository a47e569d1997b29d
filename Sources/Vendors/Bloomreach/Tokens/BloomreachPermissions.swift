import JSON

/// A permission of a public key. Source: that keys have such permissions is documented (page on API access of the
/// mobile SDKs); the names are ours.
enum BloomreachPermission: String, CaseIterable, Sendable {
    case customers, events, campaigns, attributes, consents, inapp, appinbox, selfcheck, blocks, segments
}

/// A key embedded in an app: it identifies itself and proves nothing.
final class BloomreachPublicKey: Sendable {
    /// The key as it appears after `Token`.
    let key: String
    let permissions: Set<BloomreachPermission>
    /// Customer properties that the key may neither write nor read.
    let deniedProperties: [String]
    /// Types of events that the key may not track.
    let deniedEvents: [String]

    init(
        key: String, permissions: Set<BloomreachPermission>, deniedProperties: [String], deniedEvents: [String]
    ) {
        self.key = key
        self.permissions = permissions
        self.deniedProperties = deniedProperties
        self.deniedEvents = deniedEvents
    }

    func mayUse(property name: String) -> Bool { !deniedProperties.contains { $0.hasSameBytes(as: name) } }

    func mayTrack(event type: String) -> Bool { !deniedEvents.contains { $0.hasSameBytes(as: type) } }
}
