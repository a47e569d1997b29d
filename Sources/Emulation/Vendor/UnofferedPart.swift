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
