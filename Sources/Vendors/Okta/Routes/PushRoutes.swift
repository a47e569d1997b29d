import Emulation
import JSON
import Wire

/// Challenges to devices: asked by a server, answered by the device with a token that it signs.
extension Okta {
    static func challenge(_ factor: OktaFactor, of user: OktaUser, _ call: OktaCall, _ state: inout State) -> Reply {
        let transaction = state.challenge(factor, at: call.moment)
        let path = "/api/v1/users/\(user.id)/factors/\(factor.id)/transactions/\(transaction.id)"
        return .json(
            [
                "factorResult": .string(OktaTransaction.Result.waiting.rawValue),
                "expiresAt": .string(transaction.expires.rfc3339),
                "_links": ["poll": ["href": .string(call.arrival.base + path)]],
            ], status: .created)
    }

    /// Lists what a device has to answer, in place of the push message that tells it (ours). Source of the values:
    /// validator page.
    static func listChallenges(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        let factor = try call.factor(of: user, in: state)
        let host = OktaHost(of: call.arrival.base).authority
        let challenges = state.pending(factor, at: call.moment).map { transaction -> JSON in
            [
                "transactionId": .string(transaction.id), "factorId": .string(factor.id), "userId": .string(user.id),
                "host": .string(host), "createdAt": JSON(transaction.created.wholeSeconds),
                "expiresAt": JSON(transaction.expires.wholeSeconds),
            ]
        }
        return .json(["challenges": .array(challenges)])
    }

    static func pollChallenge(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let factor = try call.factor(of: try call.user(in: state), in: state)
        let id = call.parameters["transaction"]
        guard let transaction = state.transaction(id, of: factor) else {
            throw Refusal(
                .transactionNotFound, ["id": .string(id)],
                because: "\(factor.id) has no transaction \(id); expected the id of one that was begun")
        }
        let result = transaction.result(at: call.moment)
        var answer: JSONObject = ["factorResult": .string(result.rawValue)]
        if result == .waiting { answer.append("expiresAt", .string(transaction.expires.rfc3339)) }
        return .json(.object(answer))
    }

    /// Takes the answer of a device whose token passed every rule; only now is its `jti` used up.
    static func answerChallenge(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let answer = try call.json(isOptional: true) { $0.choice("result", of: OktaTransaction.Answer.self) }
        let factor = try call.factor(of: try call.user(in: state), in: state)
        let id = call.parameters["transaction"]
        guard let transaction = state.transaction(id, of: factor) else {
            throw Refusal(.transactionNotFound, ["id": .string(id)])
        }
        if let id = call.credentials.claims?["jti"]?.string {
            _ = state.use(.ssws, id, of: factor.id, until: Moment.representable.upperBound, at: call.moment)
        }
        state.answer(transaction, answer ?? .approve)
        let result: OktaTransaction.Result = answer == .deny ? .rejected : .success
        return .json(["factorResult": .string(result.rawValue)])
    }
}

/// The host of a base, as devices know it.
struct OktaHost {
    /// With the port, if the base has one.
    let authority: String
    /// Without the port.
    let name: String

    init(of base: String) {
        let start = base.firstRange(of: "://")?.upperBound ?? base.startIndex
        let authority = base[start...].prefix { $0 != "/" }
        // A colon inside brackets belongs to an IPv6 address.
        let behind = authority.lastIndex(of: "]") ?? authority.startIndex
        self.authority = String(authority)
        name = String(authority[..<(authority[behind...].lastIndex(of: ":") ?? authority.endIndex)])
    }
}
