/// Thrown when a filled template would exceed the limits of an answer.
package struct TemplateExcess: Error, CustomStringConvertible {
    /// Which limit was exceeded, in words.
    package let description: String
}
