/// Why a template was not filled: it would have made more than one answer may hold.
struct TemplateExcess: Error, CustomStringConvertible {
    /// Which bound was met, in words.
    let description: String
}
