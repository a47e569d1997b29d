public import Wire

/// A vendor that answers some requests which find no route and are no mistake, such as a browser's question before the call
/// itself.
public protocol AnswersUnrouted<Switches>: Vendor {
    /// The answer to such a request; `nil` for the vendor's failure. The switches are read only when they are asked for.
    func unroutedAnswer(to request: Request, _ switches: () -> Switches) -> Response?
}

extension AnswersUnrouted {
    package var unroutedAnswerer: (any AnswersUnrouted<Switches>)? { self }
}
