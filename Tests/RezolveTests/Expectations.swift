import Support
import Testing

extension ReceivedAnswer {
    /// Expects the 403 that gives no details; the journal gives the reason.
    func expectDenied(_ failure: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(403, Example.denied, failure, sourceLocation: sourceLocation)
    }

    /// Expects the 401 that makes a client renew its token.
    func expectExpired(sourceLocation: SourceLocation = #_sourceLocation) {
        expect(401, Example.expired, "token-expired", sourceLocation: sourceLocation)
    }
}
