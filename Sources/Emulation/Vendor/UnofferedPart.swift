/// A part of a vendor's API that is known to be there and is not emulated: whoever calls it is told so, instead of looking
/// for a mistake in the path.
public struct UnofferedPart<Failure: VendorFailure>: Sendable {
    private let prefixes: [(text: String, segments: [Substring])]
    /// What is answered there.
    @usableFromInline let failure: Failure
    private let reason: String

    /// Everything below these prefixes.
    ///
    /// - Parameter reason: why nothing is there, as it goes on behind the prefix: “belongs to …”.
    public init(prefixes: [String], failure: Failure, reason: String) {
        self.prefixes = prefixes.map { ($0, $0.split(separator: "/")) }
        self.failure = failure
        self.reason = reason
    }

    /// Why nothing is at a path; `nil` when it lies below none of the prefixes.
    @usableFromInline
    func reason(at path: Substring) -> String? {
        let segments = TargetPath(path).segments.filter { !$0.isEmpty }
        return prefixes.first { segments.starts(with: $0.segments) }.map { "\($0.text) \(reason)" }
    }
}
