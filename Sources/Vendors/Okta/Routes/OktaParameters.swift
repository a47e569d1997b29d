import Emulation
import JSON
import Wire

/// The parameters of a request, from its query or its form; an empty value counts as absent (RFC 6749 section 3.1).
struct OktaParameters: Sendable {
    let items: [(name: String, value: String)]

    init(_ items: [(name: String, value: String)] = []) { self.items = items.filter { !$0.value.isEmpty } }

    /// The query of a GET, the form of a POST. Both are forms, in which `+` means a space (RFC 6749 appendix B).
    init(of request: Request) {
        self.init(
            request.method == .post
                ? request.formItems : request.query.map { PercentEncoding.formItems(of: $0) } ?? [])
    }

    /// The members of a JSON object: texts as they are, other values as JSON.
    init(_ object: JSONObject) {
        self.init(object.filter { !$0.value.isNull }.map { ($0.name, $0.value.string ?? $0.value.text) })
    }

    subscript(name: String) -> String? { items.first { $0.name.hasSameBytes(as: name) }?.value }

    /// The words of a value, which are separated by blanks.
    func words(_ name: String) -> [String] { self[name]?.split(separator: " ").map(String.init) ?? [] }

    /// A name that stands there more than once.
    var duplicate: String? {
        var names: Set<ExactText> = []
        return items.first { !names.insert(ExactText($0.name)).inserted }?.name
    }

    /// A value without which the request cannot be answered.
    ///
    /// - Throws: ``OktaFailure/parameterMissing``
    func required(_ name: String) throws(OktaRefusal) -> String {
        guard let value = self[name] else {
            throw Refusal(
                .parameterMissing, ["parameter": .string(name)],
                because: "found no parameter \(name) with a value; expected one")
        }
        return value
    }
}

extension Request {
    var isForm: Bool { contentType == "application/x-www-form-urlencoded" }

    var isJSON: Bool { contentType == "application/json" }

    private var contentType: String? { fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() }

    /// The value of a cookie; the first one of that name.
    func cookie(_ name: String) -> String? {
        for line in fields.values(of: .cookie) {
            for pair in line.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, parts[0] == name { return String(parts[1]) }
            }
        }
        return nil
    }
}
