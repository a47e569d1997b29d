import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension Call<Comapi> {
    /// Notes a remark on an accepted request.
    mutating func note(_ name: String, _ note: String, found: Fact? = nil, source: String? = "ours") {
        findings.note(Finding(name, .noted, found: found, note: note, source: source))
    }

    /// Rejects the request if `If-Match` is present and names another tag.
    func checkPrecondition(_ current: String) throws(ComapiRefusal) {
        guard request.fields.count(of: .ifMatch) > 0 else { return }
        let wanted = request.fields.elements(of: .ifMatch)
        if wanted.contains(where: { $0 == "*" || $0.hasSameBytes(as: current) }) { return }
        let bare = current.replacing("\"", with: "")
        let hint = wanted.contains { $0.hasSameBytes(as: bare) } ? "; only the quotes are missing" : ""
        throw Refusal(
            .etagMismatch,
            because: "If-Match is \(wanted.joined(separator: ", ").prefix(200)), not the current tag \(current)\(hint)")
    }
}

/// The entity tag of a resource: 16 hexadecimal digits in quotes (ours).
enum ComapiETag {
    /// The tag of a value, from the SHA-256 of its compact JSON with sorted members.
    static func tag(of value: JSON) -> String {
        let digest = Digest.sha256(sorted(value).bytes).prefix(8)
        let digits = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "\"\(digits.joined())\""
    }

    private static func sorted(_ value: JSON) -> JSON {
        switch value {
        case .object(let object):
            let members = object.map { (ComapiID($0.name), sorted($0.value)) }.sorted { $0.0 < $1.0 }
            return .object(JSONObject(members.map { ($0.0.text, $0.1) }))
        case .array(let elements): return .array(elements.map(sorted))
        case .null, .bool, .number, .string: return value
        }
    }
}

extension Response {
    static func tagged(_ value: JSON, _ tag: String, status: HTTPResponse.Status = .ok) -> Response {
        var response = Response.json(value, status: status)
        response.fields[.eTag] = tag
        return response
    }
}
