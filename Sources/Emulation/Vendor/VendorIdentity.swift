/// A vendor's names and the paths it owns.
public struct VendorIdentity: Sendable {
    /// The stable lowercase name used by files, flags and the control API.
    public let id: String
    public let title: String
    /// Paths that the vendor answers, including everything below them.
    public let prefixes: [String]
    public let pathRules: PathRules
    /// The longest request content in bytes on routes without a limit of their own; `nil` for the server's limit.
    public let bodyLimit: Int?

    public init(id: String, title: String, prefixes: [String], pathRules: PathRules, bodyLimit: Int? = nil) {
        self.id = id
        self.title = title
        self.prefixes = prefixes
        self.pathRules = pathRules
        self.bodyLimit = bodyLimit
    }
}

/// The failures of requests that reach no handler.
public struct UnroutedFailures<Failure: VendorFailure>: Sendable {
    /// The failure for a path without a route.
    public let routeNotFound: Failure
    /// The failure for a path that supports only other methods; equal to `routeNotFound` for vendors that do not
    /// distinguish.
    public let methodNotAllowed: Failure
    /// The failure for content that is longer than the route allows.
    public let bodyTooLarge: Failure

    /// The part that the vendor owns but does not offer; `nil` when there is none.
    public let notOffered: UnofferedPart<Failure>?

    public init(
        routeNotFound: Failure, methodNotAllowed: Failure, bodyTooLarge: Failure,
        notOffered: UnofferedPart<Failure>? = nil
    ) {
        self.notOffered = notOffered
        self.routeNotFound = routeNotFound
        self.methodNotAllowed = methodNotAllowed
        self.bodyTooLarge = bodyTooLarge
    }
}

/// A part of a vendor's API that is known to exist but is not emulated: callers are told so, instead of searching for a
/// mistake in the path.
public struct UnofferedPart<Failure: VendorFailure>: Sendable {
    private let prefixes: [(text: String, segments: [Substring])]
    @usableFromInline let failure: Failure
    private let reason: String

    /// Covers everything below these prefixes.
    ///
    /// - Parameter reason: why nothing is there, following the prefix: “belongs to …”.
    public init(prefixes: [String], failure: Failure, reason: String) {
        self.prefixes = prefixes.map { ($0, $0.split(separator: "/")) }
        self.failure = failure
        self.reason = reason
    }

    /// Why nothing is at a path; `nil` when it is below none of the prefixes.
    @usableFromInline
    func reason(at path: Substring) -> String? {
        let segments = TargetPath(path).segments.filter { !$0.isEmpty }
        return prefixes.first { segments.starts(with: $0.segments) }.map { "\($0.text) \(reason)" }
    }
}

/// How much of a vendor's state is exported, and how an import applies it.
public enum StateExtent: Sendable {
    /// All records, without passwords, private keys and other secrets: what the control API shows.
    ///
    /// An import replaces the whole state. A record that existed before keeps the secrets that the import omits.
    case whole
    /// The records that requests added or changed, including secrets: what a file needs to survive a restart.
    ///
    /// An import overlays the fixtures' state, so that unchanged records follow the fixtures.
    case changes
}
