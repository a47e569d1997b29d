public import Wire

/// A vendor that answers some requests that match no route but are not mistakes, such as a browser's CORS preflight.
public protocol AnswersUnrouted<Switches>: Vendor {
    /// The answer to such a request; `nil` for the vendor's failure. The switches are read only on demand.
    func unroutedAnswer(to request: Request, _ switches: () -> Switches) -> Response?
}

extension AnswersUnrouted {
    package var unroutedAnswerer: (any AnswersUnrouted<Switches>)? { self }
}
