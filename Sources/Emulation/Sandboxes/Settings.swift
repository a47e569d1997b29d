import JSON

/// How a sandbox's vendors behave.
public struct Settings: Sendable, Hashable {
    /// The profile of vendors that have none of their own.
    public var profile = BehaviourProfile.documented
    public var vendorProfiles: [String: BehaviourProfile] = [:]
    /// Values of individual switches, by `VENDOR.NAME`; they override the profiles.
    public var switches: [String: String] = [:]
    /// The seed of ids and other random values; `nil` for unpredictable ones.
    public var seed: UInt64?
    /// The address under which clients reach the sandbox, or ``PublicBase/fromHost``; `nil` for what the server has.
    package var publicBase: String?
    /// Whether the journal keeps all names that vendors asked for, of every request; for those who collect them.
    package var describesReading = false

    public init() {}

    package func values(vendor: String, _ declarations: [SwitchDeclaration]) -> SwitchValues {
        let profile = vendorProfiles[vendor] ?? profile
        let values = declarations.map { declaration in
            (declaration.name, switches["\(vendor).\(declaration.name)"] ?? declaration.value(in: profile))
        }
        return SwitchValues(Dictionary(values, uniquingKeysWith: { first, _ in first }))
    }

    /// Sets a switch; `nil` returns it to the profile.
    ///
    /// - Throws: a problem when the switch does not exist or cannot have that value.
    package mutating func set(
        _ name: String, to value: String?, among vendors: [any SwitchDeclaring]
    ) throws(SettingsProblem) {
        let declarations = vendors.flatMap { vendor in
            vendor.switchDeclarations.map { (name: "\(vendor.identity.id).\($0.name)", declaration: $0) }
        }
        guard let declaration = declarations.first(where: { $0.name == name })?.declaration else {
            throw SettingsProblem(
                "no switch is called \(name)\(Nearest.hint(to: name, among: declarations.map(\.name)))")
        }
        if let value, !declaration.allows(value) {
            throw SettingsProblem("switch \(name) cannot be “\(value)”; it can be \(declaration.allowedValues)")
        }
        switches[name] = value
    }

    /// Sets the profile of all vendors, discarding individual ones.
    package mutating func setProfile(_ profile: BehaviourProfile) {
        self.profile = profile
        vendorProfiles = [:]
    }

    /// Sets the profile of a vendor; `nil` returns it to the common one.
    ///
    /// - Throws: a problem when no vendor has that id.
    package mutating func setProfile(
        _ profile: BehaviourProfile?, of vendor: String, among vendors: [any SwitchDeclaring]
    ) throws(SettingsProblem) {
        let ids = vendors.map(\.identity.id)
        guard ids.contains(vendor) else {
            throw SettingsProblem("no vendor is called \(vendor)\(Nearest.hint(to: vendor, among: ids))")
        }
        vendorProfiles[vendor] = profile
    }
}

// MARK: - Keeping

extension Settings {
    /// The settings as JSON that ``init(_:among:)`` reads.
    var kept: JSON {
        let profiles = vendorProfiles.sorted { $0.key < $1.key }.map { ($0.key, $0.value.written) }
        let switches = switches.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
        var kept: JSONObject = [
            "profile": profile.written, "vendor_profiles": .object(JSONObject(profiles)),
            "switches": .object(JSONObject(switches)),
        ]
        if let seed { kept["seed"] = seed.written }
        if let publicBase { kept["public_base"] = .string(publicBase) }
        return .object(kept)
    }

    /// Reads settings; a switch or vendor that no longer exists does not affect the others.
    init(_ node: FixtureNode, among vendors: [any SwitchDeclaring]) throws(FixtureProblem) {
        let mapping = try node.mapping("profile", "vendor_profiles", "switches", "seed", "public_base")
        profile = try BehaviourProfile.read(try mapping.required("profile"))
        for (name, node) in try mapping.required("vendor_profiles").members() {
            try node.readRecord { (node) throws(FixtureProblem) in
                let profile = try BehaviourProfile.read(node)
                try node.locate { () throws(SettingsProblem) in try setProfile(profile, of: name, among: vendors) }
            }
        }
        for (name, node) in try mapping.required("switches").members() {
            try node.readRecord { (node) throws(FixtureProblem) in
                let value = try node.string()
                try node.locate { () throws(SettingsProblem) in try set(name, to: value, among: vendors) }
            }
        }
        seed = try mapping["seed"].map(UInt64.read)
        publicBase = try mapping["public_base"]?.string()
    }
}

extension FixtureNode {
    /// Reports at this node what is wrong with its value for somebody else, such as the settings.
    package func locate<Value, Failure: Error & CustomStringConvertible>(
        _ take: () throws(Failure) -> Value
    ) throws(FixtureProblem) -> Value {
        do { return try take() } catch { throw problem(error.description) }
    }
}

extension BehaviourProfile: RecordValue {}

/// Why a setting was refused: what was found and what would be right.
package struct SettingsProblem: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A source of switches: a vendor's module, or the mounted vendor.
public protocol SwitchDeclaring {
    var identity: VendorIdentity { get }
    var switchDeclarations: [SwitchDeclaration] { get }
}
