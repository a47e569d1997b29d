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
    /// The lists of `accounts.yaml` to which files in `accounts/` may add records; empty for a vendor without such files.
    package let accountLists: [String]
    /// Whether some of its routes read forms, so that JSON sent as one is a mistake.
    public let readsForms: Bool
    /// What clients send although nobody reads it.
    public let unreadNames: UnreadNames

    /// Creates an identity whose paths are read by ``PathRules`` with these values.
    package init(
        id: String, title: String, prefixes: [String], repeatedSlashes: PathRules.RepeatedSlashes,
        ignoresTrailingSlash: Bool, rewrite: (@Sendable (inout [Substring]) -> Void)? = nil, bodyLimit: Int? = nil,
        accountLists: [String] = [], readsForms: Bool = false, unreadNames: UnreadNames = UnreadNames()
    ) {
        self.id = id
        self.title = title
        self.prefixes = prefixes
        pathRules = PathRules(
            repeatedSlashes: repeatedSlashes, ignoresTrailingSlash: ignoresTrailingSlash, rewrite: rewrite)
        self.bodyLimit = bodyLimit
        self.accountLists = accountLists
        self.readsForms = readsForms
        self.unreadNames = unreadNames
    }
}

/// What the journal must know of a vendor to show its exchanges.
public final class VendorTraits: Sendable {
    /// The vendor's id; `nil` when no vendor owns the path.
    let id: String?
    /// Body members that are masked when an entry is read.
    let secrets: Set<String>
    /// Whether the vendor reads forms, so that JSON sent as one is a mistake.
    let readsForms: Bool
    let unreadNames: UnreadNames
    /// Whether fixtures describe its routes, with templates that can repeat any part of a request.
    let answersByTemplate: Bool

    package init(
        id: String? = nil, secrets: Set<String>, readsForms: Bool = false, unreadNames: UnreadNames = UnreadNames(),
        answersByTemplate: Bool = false
    ) {
        (self.id, self.secrets, self.readsForms, self.unreadNames) = (id, secrets, readsForms, unreadNames)
        self.answersByTemplate = answersByTemplate
    }

    @usableFromInline
    convenience init(_ identity: VendorIdentity, secrets: Set<String>, answersByTemplate: Bool) {
        self.init(
            id: identity.id, secrets: secrets, readsForms: identity.readsForms, unreadNames: identity.unreadNames,
            answersByTemplate: answersByTemplate)
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

    /// The parts that the vendor owns but does not offer.
    public let notOffered: [UnofferedPart<Failure>]

    /// - Parameter notOffered: the prefixes of a part, and why nothing is below them: “belongs to …”.
    public init(
        routeNotFound: Failure, methodNotAllowed: Failure, bodyTooLarge: Failure,
        notOffered: [(prefixes: [String], failure: Failure, reason: String)] = []
    ) {
        self.notOffered = notOffered.map {
            UnofferedPart(prefixes: $0.prefixes, failure: $0.failure, reason: $0.reason)
        }
        self.routeNotFound = routeNotFound
        self.methodNotAllowed = methodNotAllowed
        self.bodyTooLarge = bodyTooLarge
    }
}

/// A part of a vendor's API that is known to exist but is not emulated: the reason says so, which spares callers a
/// search for a mistake in the path.
public struct UnofferedPart<Failure: VendorFailure>: Sendable {
    private let prefixes: [(text: String, segments: [Substring])]
    @usableFromInline let failure: Failure
    private let reason: String

    /// Covers everything below these prefixes, in which `{name}` stands for any segment.
    init(prefixes: [String], failure: Failure, reason: String) {
        self.prefixes = prefixes.map { ($0, $0.split(separator: "/")) }
        self.failure = failure
        self.reason = reason
    }

    /// Why nothing is at a path; `nil` when it is below none of the prefixes.
    @usableFromInline
    func reason(at path: Substring) -> String? {
        let segments = TargetPath(path).segments.filter { !$0.isEmpty }
        // A parameter stands for any segment.
        return prefixes.first { segments.starts(with: $0.segments) { $1.first == "{" || $0 == $1 } }
            .map { "\($0.text) \(reason)" }
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
