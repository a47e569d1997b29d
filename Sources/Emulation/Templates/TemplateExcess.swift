/// Thrown when a filled template would exceed the limits of an answer.
struct TemplateExcess: Error, CustomStringConvertible {
    /// Which limit was exceeded, in words.
    let description: String
}
