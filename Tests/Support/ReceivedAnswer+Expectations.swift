package import Testing

extension ReceivedAnswer {
    /// Expects a success, with exactly this content if one is given.
    package func expect(_ status: Int, _ body: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            self.status == status, "\(text) \(failure ?? "") \(entry?.explanation ?? "")",
            sourceLocation: sourceLocation)
        if let body { #expect(text == body, sourceLocation: sourceLocation) }
        #expect(failure == nil, sourceLocation: sourceLocation)
    }

    /// Expects a refusal: status, exact content, and the failure's name in the journal.
    package func expect(
        _ status: Int, _ body: String, _ failure: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, sourceLocation: sourceLocation)
        #expect(text == body, sourceLocation: sourceLocation)
        #expect(self.failure == failure, "\(entry?.explanation ?? "") \(findings)", sourceLocation: sourceLocation)
    }
}
