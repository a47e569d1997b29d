/// Declares a vendor's switches, or gives them their values: ``VendorSwitches/code(_:)`` names each switch once.
///
/// The value that a property has before is the one of profile `documented`; profile `observed` has the same unless a
/// call says otherwise.
public struct SwitchCoder: Sendable {
    /// The values to take; `nil` while switches are declared.
    package let values: SwitchValues?
    private(set) var declarations: [SwitchDeclaration] = []

    init(_ values: SwitchValues?) {
        self.values = values
    }

    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ value: inout Choice, observed: Choice? = nil, about: String, source: String
    ) {
        if let values {
            value = Choice(rawValue: values[name]) ?? value
        } else {
            declarations.append(
                SwitchDeclaration(
                    name, .choice(Choice.allCases.map { $0.rawValue }), documented: value.rawValue,
                    observed: (observed ?? value).rawValue, about: about, source: source))
        }
    }

    /// A switch that only the conditions of `failures.yaml` read.
    package mutating func condition<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, documented: Choice, observed: Choice? = nil, about: String, source: String
    ) {
        var value = documented
        choice(name, &value, observed: observed, about: about, source: source)
    }

    /// A switch that is `on` or `off`.
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
