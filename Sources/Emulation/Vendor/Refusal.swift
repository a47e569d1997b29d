public import JSON

/// The failures of one vendor, by their stable kebab-case names.
///
/// The vendor's `failures.yaml` defines how each looks on the wire; a name without an entry there, or an entry without
/// a name, prevents startup.
public protocol VendorFailure: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The digest of the installed `failures.yaml`, which tests have read; a start leaves such a file unread.
    static var judgedFile: FixtureDigest? { get }
}

extension VendorFailure {
    /// No file: every start reads what it finds.
    public static var judgedFile: FixtureDigest? { nil }
}

/// A handler's decision to answer with a failure, and what it knows about the reason.
public struct Refusal<Failure: VendorFailure>: Error {
    /// Which failure.
    public let failure: Failure
    /// Values for the parameters that the failure's body declares.
    public let parameters: JSONObject
    /// What was found, for the journal; never on the wire.
    public let reason: String?

    /// Creates a refusal with that failure.
    public init(_ failure: Failure, _ parameters: JSONObject = [:], because reason: String? = nil) {
        self.failure = failure
        self.parameters = parameters
        self.reason = reason
    }
}

extension Vendor {
    /// The type that the vendor's handlers throw.
    public typealias Refused = Refusal<Failure>
}
