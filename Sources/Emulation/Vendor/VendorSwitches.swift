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
    package subscript(name: String) -> String { values[name] ?? "" }
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
    package let values: SwitchValues?
    private(set) var declarations: [SwitchDeclaration] = []

    init(_ values: SwitchValues?) { self.values = values }

    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
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

    private mutating func declare(
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
