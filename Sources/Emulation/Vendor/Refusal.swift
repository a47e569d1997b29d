public import JSON
package import Wire

/// The failures of one vendor, by their stable kebab-case names.
///
/// The vendor's `failures.yaml` defines how each looks on the wire; a name without an entry there, or an entry without
/// a name, prevents startup.
public protocol VendorFailure: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

/// A handler's decision to answer with a failure, and what it knows about the reason.
public struct Refusal<Failure: VendorFailure>: Error {
    public let failure: Failure
    /// Values for the parameters that the failure's body declares.
    public let parameters: JSONObject
    /// What was found, for the journal; never on the wire.
    public let reason: String?

    public init(_ failure: Failure, _ parameters: JSONObject = [:], because reason: String? = nil) {
        self.failure = failure
        self.parameters = parameters
        self.reason = reason
    }
}

extension Refusal {
    /// Refuses with that failure unless the condition holds.
    ///
    /// - Parameters:
    ///   - parameters: values for those that the failure's body declares.
    ///   - reason: what was found and what is expected, for the journal.
    public static func require(
        _ condition: Bool, _ failure: Failure, with parameters: @autoclosure () -> JSONObject = [:],
        _ reason: @autoclosure () -> String
    ) throws(Refusal) {
        guard condition else { throw Refusal(failure, parameters(), because: reason()) }
    }

    /// The value, or a refusal with that failure if there is none.
    public static func require<Value>(
        _ value: Value?, _ failure: Failure, with parameters: @autoclosure () -> JSONObject = [:],
        _ reason: @autoclosure () -> String
    ) throws(Refusal) -> Value {
        guard let value else { throw Refusal(failure, parameters(), because: reason()) }
        return value
    }

    /// Refuses with that failure unless the text has exactly the expected bytes.
    ///
    /// - Parameter name: what the text is, for the journal: "found NAME TEXT; expected TEXT".
    public static func expect(
        _ name: @autoclosure () -> String, _ found: String?, _ expected: String, _ failure: Failure
    ) throws(Refusal) {
        guard found?.hasSameBytes(as: expected) != true else { return }
        throw Refusal(failure, because: "found \(name()) \(found ?? "none"); expected \(expected)")
    }
}

/// A refusal of what a person asked for, in a sentence.
package protocol StatedRefusal: Error, CustomStringConvertible {
    init(_ description: String)
}

extension StatedRefusal {
    package static func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Self) {
        guard condition else { throw Self(reason()) }
    }

    package static func require<Value>(
        _ value: Value?, _ reason: @autoclosure () -> String
    ) throws(Self) -> Value {
        guard let value else { throw Self(reason()) }
        return value
    }

    /// Refuses a name unless the condition holds, and suggests another one.
    ///
    /// - Parameter reason: what the name ends, such as "no user has the id".
    package static func require(
        _ condition: Bool, _ reason: @autoclosure () -> String, _ name: String, among known: @autoclosure () -> [String]
    ) throws(Self) {
        guard condition else { throw Self("\(reason()) \(name)\(Nearest.hint(to: name, among: known()))") }
    }

    /// The value of a name, or a refusal that suggests another one.
    package static func require<Value>(
        _ value: Value?, _ reason: @autoclosure () -> String, _ name: String, among known: @autoclosure () -> [String]
    ) throws(Self) -> Value {
        guard let value else { throw Self("\(reason()) \(name)\(Nearest.hint(to: name, among: known()))") }
        return value
    }
}

extension Vendor {
    /// The type that the vendor's handlers throw.
    public typealias Refused = Refusal<Failure>
}

public struct FailureSetting<Failure: VendorFailure, Switches: VendorSwitches>: Sendable {
    /// The failure, whether a rule, a handler or a fault chose it.
    package let failure: Failure
    package let request: Request
    /// The id of the route; `nil` when the path has none.
    package let route: String?
    package let switches: Switches
    package let identifiers: IdentifierSource
    /// The time in the sandbox.
    package let moment: Moment
    /// The server's public address, for clients that select the sandbox as the request does.
    package let base: String
}
