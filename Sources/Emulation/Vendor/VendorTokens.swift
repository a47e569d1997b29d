public import JSON
import Tokens

/// A kind of token that a vendor can mint.
public struct TokenKind: Sendable {
    /// The stable name.
    public let name: String
    /// What it is for.
    public let about: String
    /// Members that an order may have besides `header`, `claims` and `defect`, and what each means.
    public let members: [(name: String, about: String)]
    /// Defects of this vendor besides the general ones.
    public let defects: [String]

    /// A kind of these parts.
    public init(name: String, about: String, members: [(name: String, about: String)], defects: [String]) {
        self.name = name
        self.about = about
        self.members = members
        self.defects = defects
    }
}

/// An order for a token.
public struct MintRequest: Sendable {
    /// The kind's name.
    public let kind: String
    /// The order's members, as the control API takes them.
    public let members: JSONObject

    /// An order for that kind.
    public init(kind: String, members: JSONObject = [:]) {
        self.kind = kind
        self.members = members
    }
}

/// A token that was made.
public struct MintedToken: Sendable {
    /// The token.
    public let token: String

    /// A token of that text.
    public init(token: String) {
        self.token = token
    }

    /// The token for programs, with the header and the claims that its text holds: a defect may have changed either.
    public var json: JSON {
        // Its maker knows no limit, and some defects are faults of the encoding.
        let read = CompactToken(token, limits: CompactToken.Limits(bytes: .max), encoding: .lenient)
        return [
            "token": .string(token), "header": read.header.map(JSON.object) ?? .null,
            "claims": read.claims.map(JSON.object) ?? .null,
        ]
    }
}

/// Why a token cannot be made: what was found in the order and what would be right.
public struct MintRefusal: Error, CustomStringConvertible {
    /// One sentence for people.
    public let description: String

    /// A refusal with that sentence.
    public init(_ description: String) {
        self.description = description
    }
}

/// What minting and explaining know of the sandbox they act in.
public struct TokenSetting<V: Vendor>: Sendable {
    /// The vendor's state.
    public let state: V.State
    /// The moment by the sandbox's clock.
    public let moment: Moment
    /// The vendor's switches.
    public let switches: V.Switches
    /// The sandbox.
    public let sandbox: SandboxIdentity

    /// A setting of these parts; the standard sandbox of some other start unless it is told.
    public init(
        state: V.State, moment: Moment, switches: V.Switches,
        sandbox: SandboxIdentity = SandboxIdentity(name: SandboxName.standard, start: "00000000")
    ) {
        self.sandbox = sandbox
        self.state = state
        self.moment = moment
        self.switches = switches
    }
}

/// What a vendor would say to a token.
public struct TokenVerdict<Failure: VendorFailure>: Sendable {
    /// The kind of token that the vendor takes it for; `nil` when it cannot tell.
    public let kind: String?
    /// The account whose key fits, in words; `nil` when none does.
    public let account: String?
    /// Every check, and the failure that the first broken one leads to.
    public let findings: Findings<Failure>

    /// A verdict of these parts.
    public init(kind: String?, account: String?, findings: Findings<Failure>) {
        self.kind = kind
        self.account = account
        self.findings = findings
    }
}
