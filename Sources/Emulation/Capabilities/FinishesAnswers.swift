public import Wire

/// A vendor that adds something to every answer, whatever produced it.
public protocol FinishesAnswers<Switches>: Vendor {
    /// Adds the vendor's common parts to an answer.
    ///
    /// - Parameters:
    ///   - identifiers: the source for answers with an id of their own.
    ///   - switches: read only on demand.
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource, _ switches: () -> Switches)
}

extension FinishesAnswers {
    package var answerFinisher: (any FinishesAnswers<Switches>)? { self }
}
