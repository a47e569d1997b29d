public import Wire

/// A vendor whose answers each carry something, whatever produced them.
public protocol FinishesAnswers<Switches>: Vendor {
    /// Adds what each answer of the vendor carries.
    ///
    /// - Parameters:
    ///   - identifiers: for answers with an id of their own.
    ///   - switches: read only when they are asked for.
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource, _ switches: () -> Switches)
}

extension FinishesAnswers {
    package var answerFinisher: (any FinishesAnswers<Switches>)? { self }
}
