package import JSON
package import Tokens

public struct TokenKind: Sendable {
    package let name: String
    package let about: String
    /// Members that a request may have besides `header`, `claims` and `defect`, with their meanings.
    package let members: [(name: String, about: String)]
    /// Defects specific to this vendor, besides the general ones.
    package let defects: [String]

    package init(name: String, about: String, members: [(name: String, about: String)], defects: [String]) {
        (self.name, self.about, self.members, self.defects) = (name, about, members, defects)
    }
}

/// What a request asks for a token. Its members are refused unless a vendor has read them.
public struct MintRequest: Sendable {
    package let kind: String
    /// The request's members, in the control API's format.
    package let members: JSONObject
    private var known: Set<String> = ["header", "claims"]

    package init(kind: String, members: JSONObject = [:]) {
        self.kind = kind
        self.members = members
    }

    /// The request with these claims, unless it sets them itself.
    func setting(_ claims: JSONObject) -> MintRequest {
        guard !claims.isEmpty, var own = (members["claims"] ?? [:]).object else { return self }
        for claim in claims where own[claim.name] == nil { own[claim.name] = claim.value }
        var members = members
        members["claims"] = .object(own)
        return MintRequest(kind: kind, members: members)
    }

    /// A string member; a number counts as its text, since a command line cannot tell them apart.
    package mutating func string(_ name: String) throws(ControlRefusal) -> String? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard let text = value.string ?? value.number?.literal else {
            throw ControlRefusal("\(name) is a JSON \(value.typeName); expected a string")
        }
        return text
    }

    /// A list of strings, or the words of one string, since a command line has no lists.
    package mutating func words(_ name: String) throws(ControlRefusal) -> [String]? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        if let text = value.string { return text.split(separator: " ").map(String.init) }
        let words = value.array?.compactMap(\.string) ?? []
        guard let count = value.array?.count, count == words.count else {
            throw ControlRefusal("\(name) is \(value.text); expected a list of strings, or words separated by spaces")
        }
        return words
    }

    /// A whole number, or a string that contains one.
    package mutating func int(_ name: String) throws(ControlRefusal) -> Int? {
        known.insert(name)
        guard let value = members[name] else { return nil }
        guard let int = value.int ?? value.string.flatMap({ Int($0) }) else {
            throw ControlRefusal("\(name) is \(value.text); expected a whole number")
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
        spoil: (Own, inout UnsignedToken) throws(ControlRefusal) -> Void
    ) throws(ControlRefusal) -> String {
        var token = token
        token.defect = try finish(&token.content)
        if let defect = token.defect.flatMap(own) {
            token.defect = nil
            try spoil(defect, &token)
        }
        return try token.signed(at: moment)
    }

    /// The same for a vendor without defects of its own.
    package mutating func mint(_ token: UnsignedToken, at moment: Moment) throws(ControlRefusal) -> String {
        var token = token
        token.defect = try finish(&token.content)
        return try token.signed(at: moment)
    }

    /// Sets the members of `header` and `claims` in a draft; refuses those that are not objects, and members that were
    /// not read.
    ///
    /// - Returns: the name of the defect to give the token.
    package mutating func finish(_ draft: inout TokenDraft) throws(ControlRefusal) -> String? {
        for member in members["header"]?.object ?? [:] { draft.header[member.name] = member.value }
        for member in members["claims"]?.object ?? [:] { draft.claims[member.name] = member.value }
        let defect = try string("defect")
        for name in ["header", "claims"] {
            if let value = members[name], value.object == nil {
                throw ControlRefusal("\(name) is a JSON \(value.typeName); expected an object")
            }
        }
        if let unknown = members.first(where: { !known.contains($0.name) })?.name {
            throw ControlRefusal(
                "a token of kind \(kind) has no member \(unknown)\(Nearest.hint(to: unknown, among: known.sorted()))")
        }
        return defect
    }
}

public struct MintedToken: Sendable {
    package let token: String

    var bytes: [UInt8] { Array(token.utf8) }

    /// The token for programs, with the header and claims read back from its text: a defect may have changed either.
    package var json: JSON {
        // The minter has no length limit, and some defects are encoding errors.
        let read = CompactToken(token, limits: CompactToken.Limits(bytes: .max), encoding: .lenient)
        return [
            "token": .string(token), "header": read.header.map(JSON.object) ?? .null,
            "claims": read.claims.map(JSON.object) ?? .null,
        ]
    }
}

/// The sandbox context for minting and explaining.
public struct TokenSetting<V: Vendor>: Sendable {
    package let state: V.State
    /// The moment by the sandbox's clock.
    package let moment: Moment
    package let switches: V.Switches
    package let sandbox: SandboxIdentity
    package private(set) var selector = SandboxSelector.none
    package private(set) var identifiers = IdentifierSource()

    /// The server's public address, for clients that select the sandbox in this way.
    package var base: String { sandbox.publicBase.address(of: sandbox.name, by: selector) }
}

/// A request that a person can send right away.
public struct SampleRequest: Sendable {
    package let endpoint: Endpoint
    package let fields: [(name: String, value: String)]
    package let body: String
    private let refusedPlace: Endpoint?

    /// - Parameter refusedPlace: where the vendor refuses the same request, for one without credentials.
    package init(
        endpoint: Endpoint, fields: [(name: String, value: String)] = [], body: String = "",
        refusedAt refusedPlace: Endpoint? = nil
    ) {
        (self.endpoint, self.fields, self.body, self.refusedPlace) = (endpoint, fields, body, refusedPlace)
    }

    package init(endpoint: Endpoint, bearer token: String) {
        self.init(endpoint: endpoint, fields: [("authorization", "Bearer \(token)")])
    }

    /// A request that the vendor refuses: this one with another character near the end of its credentials.
    package var refused: SampleRequest {
        let fields = fields.map { name, value in
            // In a token that is within the signature, and not its last character, some bits of which count for nothing.
            guard name == "authorization",
                let place = value.index(value.endIndex, offsetBy: -10, limitedBy: value.startIndex)
            else { return (name, value) }
            return (name, value[..<place] + (value[place] == "A" ? "B" : "A") + value[place...].dropFirst())
        }
        return SampleRequest(endpoint: refusedPlace ?? endpoint, fields: fields, body: body)
    }
}

extension Sequence<any AnyLoadedVendor> {
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
