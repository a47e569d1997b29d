import JSON

/// A vendor's switches, decoded once for a sandbox and read on every call.
public protocol VendorSwitches: Sendable {
    /// The switches as profile `documented` sets them.
    init()
    /// Names each switch once, with what it decides.
    mutating func code(_ coder: inout SwitchCoder)
}

/// A named set of switch values.
public enum BehaviourProfile: String, Sendable, CaseIterable {
    case documented
    /// As the vendors' clients and their tests show.
    case observed
}

/// A documented or observed difference in behaviour that can be selected.
public struct SwitchDeclaration: Sendable {
    /// The possible values of a switch.
    @usableFromInline
    package enum Domain: Sendable, Hashable {
        case choice([String])
        /// A non-negative whole number or, when a word is given, that word.
        case count(orWord: String?)
        case number(ClosedRange<Int>)
        /// Comma-separated host names or addresses without ports; may be empty.
        case hosts
    }

    /// The kebab-case name without the vendor.
    package let name: String
    /// Its possible values.
    package let domain: Domain
    package let documented: String
    package let observed: String
    package let about: String
    /// Where the values are known from.
    package let source: String

    package init(
        _ name: String, _ domain: Domain, documented: String, observed: String, about: String, source: String
    ) {
        (self.name, self.domain, self.documented, self.observed) = (name, domain, documented, observed)
        (self.about, self.source) = (about, source)
    }

    package func value(in profile: BehaviourProfile) -> String {
        switch profile {
        case .documented: documented
        case .observed: observed
        }
    }

    package func allows(_ value: String) -> Bool {
        switch domain {
        case .choice(let words): words.contains(value)
        case .count(let word): value == word || Int(value).map { $0 >= 0 } == true
        case .number(let range): Int(value).map(range.contains) == true
        case .hosts: Self.hosts(value).allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isHostByte) }
        }
    }

    package var allowedValues: String {
        switch domain {
        case .choice(let words): words.joined(separator: ", ")
        case .count(let word): "a whole number from 0" + (word.map { " or \($0)" } ?? "")
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .hosts: "names of hosts without ports, separated by commas"
        }
    }

    /// The names in a list of hosts.
    static func hosts(_ value: String) -> [String] {
        value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Letters, digits, and the separators in names and in both kinds of addresses.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte.isBase64URL || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
    }
}

public struct SwitchValues: Sendable, Hashable {
    private let values: [String: String]

    package init(_ values: [String: String]) { self.values = values }

    /// The value of a switch; empty when the vendor declares none with that name.
    @usableFromInline package subscript(name: String) -> String { values[name] ?? "" }
}

extension VendorSwitches {
    /// All switches, as ``code(_:)`` names them.
    @usableFromInline
    package static func declared() -> [SwitchDeclaration] {
        var (coder, switches) = (SwitchCoder(nil), Self())
        switches.code(&coder)
        return coder.declarations
    }

    /// Decodes resolved values. A switch without one, or with one that it does not allow, is as documented.
    package init(_ values: SwitchValues) {
        var coder = SwitchCoder(values)
        self.init()
        code(&coder)
    }
}

/// Declares a vendor's switches, or gives them their values: ``VendorSwitches/code(_:)`` names each switch once.
///
/// The value that a property has before is the one of profile `documented`; profile `observed` has the same unless a
/// call says otherwise.
public struct SwitchCoder: Sendable {
    /// The values to take; `nil` while switches are declared.
    @usableFromInline package let values: SwitchValues?
    private(set) var declarations: [SwitchDeclaration] = []

    init(_ values: SwitchValues?) { self.values = values }

    /// A switch whose values are words. Public, so that each vendor compiles it for its own types.
    @inlinable
    public mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ value: inout Choice, observed: Choice? = nil, about: String, source: String
    ) {
        if let values {
            value = Choice(rawValue: values[name]) ?? value
        } else {
            let words = Choice.allCases.map { $0.rawValue }
            declare(name, .choice(words), value.rawValue, observed?.rawValue, about, source)
        }
    }

    /// A switch that only the conditions of `failures.yaml` read.
    package mutating func condition<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, documented: Choice, observed: Choice? = nil, about: String, source: String
    ) {
        var value = documented
        choice(name, &value, observed: observed, about: about, source: source)
    }

    package mutating func flag(
        _ name: String, _ value: inout Bool, observed: Bool? = nil, about: String, source: String
    ) {
        var word = SwitchFlag(value)
        choice(name, &word, observed: observed.map(SwitchFlag.init), about: about, source: source)
        value = word == .on
    }

    /// A switch that is a whole number: of the range or, without one, from 0 on.
    package mutating func count(
        _ name: String, _ value: inout Int, in range: ClosedRange<Int>? = nil, observed: Int? = nil, about: String,
        source: String
    ) {
        if let values {
            value = Int(values[name]) ?? value
        } else {
            declare(
                name, range.map { .number($0) } ?? .count(orWord: nil), String(value), observed.map(String.init), about,
                source)
        }
    }

    /// A switch that is a whole number from 0 on, or `off`, which is `nil`.
    package mutating func limit(_ name: String, _ value: inout Int?, about: String, source: String) {
        if let values {
            value = Int(values[name])
        } else {
            declare(name, .count(orWord: "off"), value.map(String.init) ?? "off", nil, about, source)
        }
    }

    /// A switch that is a list of hosts, empty unless it is set; read in lower case, since host names are
    /// case-insensitive.
    package mutating func hosts(_ name: String, _ value: inout [String], about: String, source: String) {
        if let values {
            value = SwitchDeclaration.hosts(values[name]).map { $0.lowercased() }
        } else {
            declare(name, .hosts, "", nil, about, source)
        }
    }

    @usableFromInline
    mutating func declare(
        _ name: String, _ domain: SwitchDeclaration.Domain, _ documented: String, _ observed: String?, _ about: String,
        _ source: String
    ) {
        declarations.append(
            SwitchDeclaration(
                name, domain, documented: documented, observed: observed ?? documented, about: about, source: source))
    }
}

/// The words of a switch that is on or off.
package enum SwitchFlag: String, CaseIterable {
    case on, off

    fileprivate init(_ isOn: Bool) { self = isOn ? .on : .off }
}

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
