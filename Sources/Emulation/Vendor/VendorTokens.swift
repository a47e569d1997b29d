package import JSON
import Tokens

public struct TokenKind: Sendable {
    /// The stable name.
    package let name: String
    package let about: String
    /// Members that a request may have besides `header`, `claims` and `defect`, with their meanings.
    package let members: [(name: String, about: String)]
    /// Defects specific to this vendor, besides the general ones.
    package let defects: [String]

    package init(name: String, about: String, members: [(name: String, about: String)], defects: [String]) {
        self.name = name
        self.about = about
        self.members = members
        self.defects = defects
    }
}

public struct MintRequest: Sendable {
    package let kind: String
    /// The request's members, in the control API's format.
    package let members: JSONObject

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
}

public struct MintedToken: Sendable {
    package let token: String

    package init(token: String) {
        self.token = token
    }

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

/// Why a token cannot be minted: what was found in the request and what would be right.
public struct MintRefusal: Error, CustomStringConvertible {
    /// One sentence for people.
    public let description: String

    /// Creates a refusal with that sentence.
    package init(_ description: String) {
        self.description = description
    }
}

/// The sandbox context for minting and explaining.
public struct TokenSetting<V: Vendor>: Sendable {
    package let state: V.State
    /// The moment by the sandbox's clock.
    package let moment: Moment
    package let switches: V.Switches
    package let sandbox: SandboxIdentity
    package let selector: SandboxSelector
    /// The source of ids and other random values.
    package let identifiers: IdentifierSource

    /// Creates a setting from its parts; by default, in the standard sandbox of another start.
    package init(
        state: V.State, moment: Moment, switches: V.Switches,
        sandbox: SandboxIdentity = SandboxIdentity(name: SandboxName.standard, start: "00000000"),
        selector: SandboxSelector = .none, identifiers: IdentifierSource = IdentifierSource()
    ) {
        self.identifiers = identifiers
        self.selector = selector
        self.sandbox = sandbox
        self.state = state
        self.moment = moment
        self.switches = switches
    }

    /// The server's public address, for clients that select the sandbox in this way.
    package var base: String { sandbox.publicBase.address(of: sandbox.name, by: selector) }
}

public struct TokenVerdict<Failure: VendorFailure>: Sendable {
    /// The kind of token that the vendor recognizes; `nil` when it cannot tell.
    package let kind: String?
    /// The account whose key matches, in words; `nil` when none does.
    package let account: String?
    /// Every check, and the failure that the first broken one causes.
    package let findings: Findings<Failure>

    package init(kind: String?, account: String?, findings: Findings<Failure>) {
        self.kind = kind
        self.account = account
        self.findings = findings
    }
}

/// An id or public key of a sample account.
public struct SampleCredential: Sendable {
    package let label: String
    package let value: String

    package init(label: String, value: String) {
        self.label = label
        self.value = value
    }
}

/// A request that a person can send right away.
public struct SampleRequest: Sendable {
    /// The method and path.
    package let endpoint: Endpoint
    package let fields: [(name: String, value: String)]
    package let body: String

    package init(endpoint: Endpoint, fields: [(name: String, value: String)], body: String) {
        self.endpoint = endpoint
        self.fields = fields
        self.body = body
    }
}
