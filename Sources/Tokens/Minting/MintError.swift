/// Why a token could not be minted.
public enum MintError: Error, Sendable, Hashable {
    /// The key cannot sign so.
    case key(KeyError)
    /// There is no defect of that name.
    case unknownDefect(String)
    /// The defect makes no sense for this key or draft; the sentence says why.
    case notApplicable(Defect, String)
}

extension MintError: CustomStringConvertible {
    /// What was found and what would be right.
    public var description: String {
        switch self {
        case .key(let error): "The key cannot sign this token: \(error)."
        case .unknownDefect(let name):
            "“\(name)” is no defect; expected one of \(Defect.names.joined(separator: ", "))."
        case .notApplicable(let defect, let reason): "Defect \(defect.name) is not possible here: \(reason)."
        }
    }
}
