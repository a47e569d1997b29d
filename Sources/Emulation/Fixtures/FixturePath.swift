/// The path to a value in a JSON document; it is rendered only when a problem names it.
indirect enum FixturePath {
    /// The document itself.
    case root
    case member(String, of: FixturePath)
    case element(Int, of: FixturePath)

    /// The path in the form `users[3].id`; empty for the document itself.
    var text: String {
        switch self {
        case .root: return ""
        case .member(let name, let parent):
            let beginning = parent.text
            return beginning.isEmpty ? name : "\(beginning).\(name)"
        case .element(let index, let parent): return "\(parent.text)[\(index)]"
        }
    }
}
