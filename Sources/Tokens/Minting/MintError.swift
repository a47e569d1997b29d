/// Why a token could not be minted.
public enum MintError: Error, Sendable, Hashable {
    /// The key cannot sign this way.
    case key(KeyError)
    case unknownDefect(String)
    /// The defect does not apply to this key or draft; the sentence says why.
    case notApplicable(Defect, String)
}

extension MintError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .key(let error): "The key cannot sign this token: \(error)."
        case .unknownDefect(let name):
            "“\(name)” is not a defect; expected one of \(Defect.names.joined(separator: ", "))."
        case .notApplicable(let defect, let reason): "Defect \(defect.name) is not possible here: \(reason)."
        }
    }
}
