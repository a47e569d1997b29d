package import JSON

/// A fact about a request, such as its device, that a vendor needs when it explains a token alone.
public struct RequestFact: Sendable {
    package let name: String
    /// A short description.
    package let about: String

    package init(_ name: String, _ about: String) {
        self.name = name
        self.about = about
    }
}

extension Sequence<any LoadedVendor> {
    /// What is wrong with the facts given to these vendors; `nil` when each is a string that one of them knows.
    package func problem(withFacts facts: JSONObject) -> String? {
        let known = flatMap(\.requestFacts).map(\.name)
        for fact in facts {
            guard known.contains(fact.name) else {
                let those = known.isEmpty ? "; a token of this vendor needs no request" : ""
                return
                    "no vendor asks of a request for \(fact.name)\(Nearest.hint(to: fact.name, among: known))\(those)"
            }
            if fact.value.string == nil { return "\(fact.name) is \(fact.value.text); expected a string" }
        }
        return nil
    }
}
