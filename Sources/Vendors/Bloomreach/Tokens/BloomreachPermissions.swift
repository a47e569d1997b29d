import Emulation

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

    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("key", "permissions", "denied_properties", "denied_events")
        var permissions = Set(BloomreachPermission.allCases)
        if let list = entry["permissions"] {
            permissions = []
            for name in try list.elements() { permissions.insert(try name.choice(of: BloomreachPermission.self)) }
        }
        self.permissions = permissions
        key = try entry.required("key").string()
        deniedProperties = try entry["denied_properties"]?.strings() ?? []
        deniedEvents = try entry["denied_events"]?.strings() ?? []
    }

    func mayUse(property name: String) -> Bool { !deniedProperties.contains { $0.hasSameBytes(as: name) } }

    func mayTrack(event type: String) -> Bool { !deniedEvents.contains { $0.hasSameBytes(as: type) } }
}
