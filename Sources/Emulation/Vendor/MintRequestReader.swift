import JSON
package import Tokens

/// Reads the members of a mint request, and refuses unknown ones.
package struct MintRequestReader {
    private let kind: String
    private let members: JSONObject
    private var known: Set<String> = ["header", "claims"]

    package init(_ order: MintRequest) {
        kind = order.kind
        members = order.members
    }

    /// A string member; a number counts as its text, since a command line cannot tell them apart.
    package mutating func string(_ name: String) throws(MintRefusal) -> String? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard let text = value.string ?? value.number?.literal else {
            throw MintRefusal("\(name) is a JSON \(value.typeName); expected a string")
        }
        return text
    }

    /// A list of strings, or the words of one string, since a command line has no lists.
    package mutating func words(_ name: String) throws(MintRefusal) -> [String]? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        if let text = value.string { return text.split(separator: " ").map(String.init) }
        let words = value.array?.compactMap(\.string) ?? []
        guard let count = value.array?.count, count == words.count else {
            throw MintRefusal("\(name) is \(value.text); expected a list of strings, or words separated by spaces")
        }
        return words
    }

    /// A whole number, or a string that contains one.
    package mutating func int(_ name: String) throws(MintRefusal) -> Int? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard let int = value.int ?? value.string.flatMap({ Int($0) }) else {
            throw MintRefusal("\(name) is \(value.text); expected a whole number")
        }
        return int
    }

    /// Sets the request's `header` and `claims` in a token, gives it the requested defect, and signs it.
    ///
    /// The last step: members that were not read until now are refused.
    ///
    /// - Parameters:
    ///   - own: the vendor's own defect with that name; `nil` for a general one.
    ///   - spoil: gives the token a defect of the vendor's own.
    package mutating func mint<Own>(
        _ token: UnsignedToken, at moment: Moment, own: (String) -> Own?,
        spoil: (Own, inout UnsignedToken) throws(MintRefusal) -> Void
    ) throws(MintRefusal) -> MintedToken {
        var token = token
        token.defect = try finish(&token.content)
        if let defect = token.defect.flatMap(own) {
            token.defect = nil
            try spoil(defect, &token)
        }
        return try token.signed(at: moment)
    }

    /// Sets the members of `header` and `claims` in a draft; refuses those that are not objects, and members that were
    /// not read.
    ///
    /// - Returns: the name of the defect to give the token.
    package mutating func finish(_ draft: inout TokenDraft) throws(MintRefusal) -> String? {
        for member in members["header"]?.object ?? [:] { draft.header[member.name] = member.value }
        for member in members["claims"]?.object ?? [:] { draft.claims[member.name] = member.value }
        let defect = try string("defect")
        for name in ["header", "claims"] {
            if let value = members[name], value.object == nil {
                throw MintRefusal("\(name) is a JSON \(value.typeName); expected an object")
            }
        }
        if let unknown = members.first(where: { !known.contains($0.name) })?.name {
            throw MintRefusal(
                "a token of kind \(kind) has no member \(unknown)\(Nearest.hint(to: unknown, among: known.sorted()))")
        }
        return defect
    }
}
