import Emulation
import JSON
import Tokens
import Wire

/// The call by which the vendor's example apps get a customer token. Source: observed in the iOS example app; response
/// to invalid input, default lifetime and order of members are ours.
extension Bloomreach {
    /// The default lifetime of a token (ours).
    static let tokenLifetime = Duration.seconds(3600)

    /// Signs a token with the named private key; an expiry in the past is signed as given.
    static func mintForExampleApp(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let body = try call.body()
        let project = try orderedProject(body, call.vendor)
        let (keyID, subject) = try body.read {
            (
                $0.text("kid"),
                $0.value("sub", isRequired: true, expecting: "the ids of a customer") { $0 } ?? .null
            )
        }
        guard let key = project.privateKey(keyID) else {
            let known = Nearest.known(project.privateKeys.lazy.map(\.id))
            throw Refusal(.mintUnknownKey, because: "kid names no private key of \(project.token)\(known)")
        }
        try Refused.require(
            BloomreachIDs(claim: subject) != nil, .mintBadSubject,
            "sub is \(subject.text.prefix(100)); expected up to \(BloomreachIDs.maximum) names with texts")
        let named = try body.read { body in
            body.value("exp", expecting: "a number") { $0.number.flatMap { $0.double.isFinite ? $0 : nil } }
        }
        let expiry = JSON.number(named ?? JSONNumber((call.moment + tokenLifetime).wholeSeconds))
        var draft = TokenDraft.customerToken(key: key, subject: subject, expiry: expiry)
        let token: String
        do {
            let moment = call.moment.unixSeconds
            token = try call.arrival.refusedTokens.sign(&draft) { draft in
                try draft.mint(key: key.signing, algorithm: .hs256, at: moment)
            }
        } catch {
            throw Refusal(.mintUnknownKey, because: "\(error); expected a key that signs HS256")
        }
        try Refused.require(
            BloomreachToken(token).compact.firstFault == nil, .mintBadSubject,
            "the token would be longer than any that is read; expected a shorter sub")
        return .json(["customer_token": .string(token), "expire_time": draft.claims["exp"] ?? expiry])
    }

    private static func orderedProject(
        _ body: Fields<Bloomreach>, _ vendor: Bloomreach
    ) throws(Refused) -> BloomreachProject {
        let token = try body.read { $0.optionalText("project_id") } ?? ""
        guard BloomreachAddress.isWellFormed(token) else {
            throw Refusal(.invalidProjectID, because: "project_id is \(token.shown); expected a project token")
        }
        return try Refused.require(
            vendor.accounts.project(token), .unknownProject,
            "no project has the token \(token)\(Nearest.known(vendor.accounts.projects.lazy.map(\.token)))")
    }
}
