import Emulation
import JSON
import Tokens

extension Okta {
    static func listFactors(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        return .json(.array(state.factors(of: user.id).map { $0.json(of: user, call.arrival.base) }))
    }

    static func listQuestions(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        _ = try call.user(in: state)
        return .json(.array(OktaQuestion.known.map { OktaQuestion.json($0.id) }))
    }

    /// Enrolls a factor: a device (ours) and a question are active at once, the others when they have shown a code.
    static func enrollFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let user = try call.user(in: state)
        return .json(try call.enroll(of: user, &state).json(of: user, call.arrival.base))
    }

    /// A factor as a client describes it, without what the server adds.
    fileprivate func factor(_ body: inout FieldReader) -> OktaFactor {
        var factor = OktaFactor()
        factor.kind = body.choice("factorType", isRequired: true) ?? .totp
        if let provider = body.optionalText("provider", isRequired: true), !provider.hasSameBytes(as: "OKTA") {
            body.refuse("provider", "is another one; expected OKTA")
        }
        switch factor.kind {
        case .push:
            factor.publicKey = body.value(
                "publicKey", isRequired: true, expecting: OktaFactor.deviceKeyForm, OktaFactor.deviceKey)
        case .totp: break
        case .sms, .call: factor.phone = body.nested("profile", isRequired: true) { $0.text("phoneNumber") }
        case .question:
            _ = body.nested("profile", isRequired: true) { profile in
                let question = profile.text("question")
                if !OktaQuestion.known.contains(where: { $0.id.hasSameBytes(as: question) }) {
                    profile.refuse("question", "is \(question); expected an id of factors/questions")
                }
                (factor.question, factor.answer) = (question, profile.text("answer", atLeast: 1))
            }
        }
        factor.status = [.push, .question].contains(factor.kind) ? .active : .pendingActivation
        return factor
    }

    static func getFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (user, factor) = try call.factor(in: state)
        if call.request.method == .post, factor.phone != nil { state.sendCode(to: factor, call.identifiers) }
        return .json(factor.json(of: user, call.arrival.base))
    }

    static func removeFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        state.remove(try call.factor(in: state).1)
        return .empty()
    }

    static func activateFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (user, factor) = try call.factor(in: state)
        let code = try call.json { $0.text("passCode") }
        try Refused.require(
            factor.status == .pendingActivation, .userStatus,
            "\(factor.id) is \(factor.status.rawValue); expected PENDING_ACTIVATION")
        try call.use(code, of: factor, &state)
        state.factors.change(factor.key) { $0.status = .active }
        return .json((state.factors[factor.key] ?? factor).json(of: user, call.arrival.base))
    }

    /// Verifies a factor: by a code, by one that is sent first, or by a challenge to a device.
    static func verifyFactor(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (user, factor) = try call.factor(in: state)
        let code = try call.json(isOptional: true) { $0.optionalText(factor.kind.proof) }
        try Refused.require(
            factor.status == .active, .userStatus, "\(factor.id) is \(factor.status.rawValue); expected ACTIVE")
        switch factor.kind {
        case .push:
            let transaction = state.challenge(factor, at: call.moment)
            let path = "/api/v1/users/\(user.id)/factors/\(factor.id)/transactions/\(transaction.id)"
            return .json(
                [
                    "factorResult": .string(OktaTransaction.Result.waiting.rawValue),
                    "expiresAt": .string(transaction.expires.shown),
                    "_links": ["poll": ["href": .string(call.arrival.base + path)]],
                ], status: .created)
        case .sms where code == nil, .call where code == nil:
            state.sendCode(to: factor, call.identifiers)
            return .json(["factorResult": "CHALLENGE"])
        case .totp, .sms, .call, .question:
            try call.use(code, of: factor, &state)
            return .json(["factorResult": "SUCCESS"])
        }
    }
}

extension OktaFactor.Kind {
    /// The member of a request that verifies such a factor. Source: ref (authn), api.
    var proof: String { self == .question ? "answer" : "passCode" }

    /// The value of `amr`. Source: ref; of questions RFC 8176.
    var method: String {
        switch self {
        case .totp: "otp"
        case .question: "kba"
        case .push: "swk"
        case .sms: "sms"
        case .call: "tel"
        }
    }
}

extension OktaCall {
    func enroll(of user: OktaUser, _ state: inout OktaState) throws(Refused) -> OktaFactor {
        var factor = try json { vendor.factor(&$0) }
        factor.id = factor.kind.newID(identifiers)
        (factor.userID, factor.created) = (user.id, moment)
        if factor.kind == .totp { factor.secret = OktaTOTP.newSecret(identifiers) }
        state.add(factor)
        if factor.phone != nil { state.sendCode(to: factor, identifiers) }
        return factor
    }

    /// The user and the factor that the path names.
    func factor(in state: OktaState) throws(Refused) -> (OktaUser, OktaFactor) {
        let user = try user(in: state)
        return (user, try factor(of: user, in: state))
    }

    /// The factor that the path names, which must be the user's.
    func factor(of user: OktaUser, in state: OktaState) throws(Refused) -> OktaFactor {
        let id = parameters["factor"]
        return try Refused.require(
            state.factor(id, of: user.id), .factorNotFound, with: ["id": .string(id)],
            "\(user.login) has no factor \(id)" + Nearest.known(state.factors(of: user.id).map(\.id)))
    }

    /// - Parameter name: what a wrong one is called in the answer.
    func use(
        _ code: String?, of factor: OktaFactor, as name: String = "passcode", _ state: inout OktaState
    ) throws(Refused) {
        guard let code else { throw Okta.missing(factor.kind.proof, expected: "a string") }
        switch state.use(code: code, of: factor, at: moment) {
        case .right: return
        case .wrong:
            let isAnswer = factor.kind == .question
            throw Refused(
                .factorCodeWrong, ["what": isAnswer ? "answer" : .string(name)],
                because: isAnswer
                    ? "found another answer than that of \(factor.id); expected the one to \(factor.question ?? "it")"
                    : "found another code than those of \(factor.id); expected the current one, or the one before or after"
            )
        case .used:
            throw Refused(
                .factorCodeUsed,
                because: "the code of \(factor.id), or a later one, was used before; expected the next one")
        }
    }
}

extension OktaFactor {
    static let deviceKeyForm = "a public RSA or P-256 key as a JWK"

    /// The JWK, if a device may sign its answers with such a key. The algorithms: validator page; devices.
    static func deviceKey(_ jwk: JSON) -> JSON? {
        guard let key = try? VerificationKey.jwk(jwk),
            key.algorithms.contains(.rs256) || key.algorithms.contains(.es256)
        else { return nil }
        return jwk
    }

    /// The factor as the management API shows it. Source: postman; recorded answers (pysdk); a device's without
    /// profile, and the time of those of fixtures that have none: ours.
    func json(of user: OktaUser, _ base: String) -> JSON {
        let created = created.wholeSeconds == 0 ? user.created : created
        var shown: JSONObject = [
            "id": .string(id), "factorType": .string(kind.rawValue), "provider": "OKTA", "vendorName": "OKTA",
            "status": .string(status.rawValue), "created": .string(created.shown),
            "lastUpdated": .string(created.shown),
        ]
        switch kind {
        case .push: break
        case .totp: shown.append("profile", ["credentialId": .string(user.login)])
        case .sms, .call: shown.append("profile", ["phoneNumber": JSON(phone)])
        case .question: shown.append("profile", OktaQuestion.json(question ?? ""))
        }
        shown.append("_links", links("\(base)/api/v1/users/\(user.id)"))
        if kind == .totp, status == .pendingActivation {
            let activation: JSON = [
                "timeStep": JSON(OktaTOTP.stepSeconds), "sharedSecret": JSON(secret), "encoding": "base32",
                "keyLength": JSON(OktaTOTP.digitCount),
            ]
            shown.append("_embedded", ["activation": activation])
        }
        return .object(shown)
    }

    /// Source: recorded answers (pysdk) before its activation; resend as api has it now; verify postman.
    private func links(_ user: String) -> JSON {
        let own = "\(user)/factors/\(id)"
        var links: JSONObject = ["self": .link(own, "GET"), "user": .link(user, "GET")]
        if status == .active {
            links.append("verify", .link(own + "/verify", "POST"))
        } else {
            links.append("activate", .link(own + "/lifecycle/activate", "POST"))
            if phone != nil { links.append("resend", .link(own + "/resend", "POST")) }
        }
        if kind == .question { links.append("questions", .link(user + "/factors/questions", "GET")) }
        return .object(links)
    }
}

/// Challenges to devices: asked by a server, answered by the device with a token that it signs.
extension Okta {
    /// Lists what a device has to answer, in place of the push message that announces it (ours). Source of the values:
    /// validator page.
    static func listChallenges(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let (user, factor) = try call.factor(in: state)
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
        let factor = try call.factor(in: state).1
        let id = call.parameters["transaction"]
        let transaction = try Refused.require(
            state.transaction(id, of: factor), .transactionNotFound, with: ["id": .string(id)],
            "\(factor.id) has no transaction \(id); expected the id of one that was begun")
        let result = transaction.result(at: call.moment)
        var answer: JSONObject = ["factorResult": .string(result.rawValue)]
        if result == .waiting { answer.append("expiresAt", .string(transaction.expires.shown)) }
        return .json(.object(answer))
    }

    /// Takes the answer of a device whose token passed every rule; only now is its `jti` used up.
    static func answerChallenge(_ call: inout OktaCall, _ state: inout State) throws(Refused) -> Reply {
        let answer = try call.json(isOptional: true) { $0.choice("result", of: OktaTransaction.Answer.self) }
        let factor = try call.factor(in: state).1
        let id = call.parameters["transaction"]
        guard let transaction = state.transaction(id, of: factor) else {
            throw Refused(.transactionNotFound, ["id": .string(id)])
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

enum OktaPhone {
    /// The two-digit country codes; 1 and 7 have one digit, the others three. Source: ITU-T E.164.
    private static let codes = Set(
        [
            20...20, 27...27, 30...34, 36...36, 39...41, 43...49, 51...58, 60...66, 81...82, 84...84, 86...86, 90...95,
            98...98,
        ].joined())

    /// Country code and last digits. Source: authjs, tests for +1; the same form for other countries is ours.
    static func masked(_ phone: String) -> String {
        let digits = phone.filter(\.isNumber)
        var code = digits.prefix(1)
        if !phone.hasPrefix("+") {
            code = "1"
        } else if code != "1", code != "7" {
            code = digits.prefix(codes.contains(Int(digits.prefix(2)) ?? 0) ? 2 : 3)
        }
        return "+\(code) XXX-XXX-\(digits.suffix(4))"
    }
}
