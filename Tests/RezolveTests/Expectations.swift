import Support
import Testing

extension ReceivedAnswer {
    /// The answer is the 403 that tells nothing; the journal tells the reason.
    func expectDenied(_ failure: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(403, Example.denied, failure, sourceLocation: sourceLocation)
    }

    /// The answer is the 401 that makes a client renew its token.
    func expectExpired(sourceLocation: SourceLocation = #_sourceLocation) {
        expect(401, Example.expired, "token-expired", sourceLocation: sourceLocation)
    }
}
