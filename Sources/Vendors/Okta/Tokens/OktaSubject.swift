import Emulation
import JSON
import Tokens

/// A token that is to be exchanged for another one, and what it has to fit.
struct OktaSubject: RuleFacts {
    typealias Failure = OktaFailure

    enum Kind: Sendable {
        case access
        /// - Parameter client: the client that it must have been made for; `nil` for any.
        case id(client: String?)
    }

    let kind: Kind
    let token: CompactToken
    let moment: Moment
    var mayBeExpired = false
    /// The issuers of which tokens are taken here, in every form of their addresses.
    let trusted: [String]
    /// The issuer's published key that the header names.
    var key: VerificationKey?
    var isRevoked = false
    /// The status of the user; `nil` when there is none.
    var status: OktaUser.Status?
    /// The device secret beside it; `nil` when none is due.
    var secret: OktaDeviceSecret?

    var compact: CompactToken? { token }

    /// The id of the user in the token: access tokens name the login as `sub`.
    var userID: String? {
        switch kind {
        case .access: token.claims?["uid"]?.string
        case .id: token.claims?["sub"]?.string
        }
    }
}

extension OktaSubject {
    init(
        _ text: String, _ kind: Kind, of servers: [OktaServer], mayBeExpired: Bool = false,
        beside secret: OktaDeviceSecret? = nil, _ call: OktaCall, in state: OktaState
    ) throws(OktaRefusal) {
        let bases = call.arrival.sandbox.publicBase.addresses(of: call.arrival.sandbox.name)
        self.init(
            kind: kind, token: CompactToken(text), moment: call.moment, mayBeExpired: mayBeExpired,
            trusted: servers.flatMap { server in bases.map(server.issuer) }, secret: secret)
        let issuer = token.claims?["iss"]?.string
        let server = servers.first { server in
            bases.contains { issuer?.hasSameBytes(as: server.issuer(at: $0)) == true }
        }
        if let server { key = try call.vendor.verificationKey(of: server, named: token, in: state) }
        isRevoked = token.claims?["jti"]?.string.map(state.isRevoked) ?? false
        status = userID.flatMap { state.users[$0]?.status }
    }
}

extension Okta {
    /// The published key of a server that a token names; `nil` when it names none of them.
    func verificationKey(
        of server: OktaServer, named token: CompactToken, in state: OktaState
    ) throws(OktaRefusal) -> VerificationKey? {
        do throws(MintRefusal) {
            let keys = try keys(of: server.id, in: state)
            return token.header?["kid"]?.string.flatMap { keys?.key(withID: $0)?.verificationKey }
        } catch {
            throw Refusal(.internalError, because: "found \(error); expected the server's key")
        }
    }
}
