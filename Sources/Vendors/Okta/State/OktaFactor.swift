import Emulation
import JSON
import Tokens

/// Something besides the password with which a user signs in.
struct OktaFactor: Sendable, KeyedRecord, CodedRecord {
    /// Source: postman, api.
    enum Kind: String, CaseIterable, RecordValue {
        case push, sms, call, question
        case totp = "token:software:totp"

        /// A new id, which begins with the prefix of the kind. Source: postman.
        func newID(_ identifiers: IdentifierSource) -> String {
            switch self {
            case .push: identifiers.oktaID("opf")
            case .sms: identifiers.oktaID("sms")
            case .call: identifiers.oktaID("clf")
            case .totp: identifiers.oktaID("ost")
            case .question: identifiers.oktaID("ufs")
            }
        }
    }

    /// Source: api.
    enum Status: String, CaseIterable, RecordValue { case active = "ACTIVE", pendingActivation = "PENDING_ACTIVATION" }

    var id = ""
    var userID = ""
    var kind = Kind.push
    var status = Status.active
    /// Push: the device's public key as a JWK.
    var publicKey: JSON?
    /// Push, in the fixtures: the device's key pair, with which answers can be minted.
    var device: KeyFile?
    /// TOTP: the shared secret in base32.
    var secret: String?
    var phone: String?
    /// The id of a security question, and the answer to it.
    var question: String?
    var answer: String?
    /// Push: the number that the user must choose on the device; `nil` for none.
    var numberChallenge: String?
    /// TOTP: the step of the last code that was used, since each is valid once (ours).
    var lastStep: Int?
    /// SMS and voice: the code that was sent last.
    var sentCode: String?
    var created = Moment(unixSeconds: 0)

    var key: ExactText { ExactText(id) }
    var group: ExactText? { ExactText(userID) }
    var secretText: String? { secret }

    func clash(over name: Never?) -> String { "another factor is \(id)" }

    mutating func keepSecrets(of known: OktaFactor, fromWhole isWhole: Bool) {
        // Only the fixtures name a file.
        if publicKey == nil { device = known.device }
        guard isWhole else { return }
        (secret, sentCode, answer) = (secret ?? known.secret, sentCode ?? known.sentCode, answer ?? known.answer)
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("user", &userID)
        coder.member("type", &kind)
        coder.member("status", &status, or: .active)
        coder.member("public_key", &publicKey)
        if case .fixture(let fixtures) = coder.form {
            coder.member("key", &device, or: .some(nil), write: { _ in nil }) { (node) throws(FixtureProblem) in
                try KeyFile(node, fixtures)
            }
        }
        coder.secret("secret", &secret)
        coder.member("phone", &phone)
        coder.member("question", &question)
        coder.secret("answer", &answer)
        coder.member("number_challenge", &numberChallenge)
        coder.member("last_step", &lastStep, in: 0...Int(Int32.max) * 8)
        coder.secret("sent_code", &sentCode)
        coder.member("created", &created, or: Moment(unixSeconds: 0))
    }

    var verificationKey: VerificationKey? {
        if let publicKey { return try? VerificationKey.jwk(publicKey) }
        return (try? device?.read())?.verificationKey
    }
}

/// A push challenge, which the device of a factor answers.
struct OktaTransaction: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// What the user chose on the device; the names are ours.
    enum Answer: String, CaseIterable, RecordValue { case approve = "APPROVE", deny = "DENY" }

    /// Source: ref (authn).
    enum Result: String { case waiting = "WAITING", success = "SUCCESS", rejected = "REJECTED", timeout = "TIMEOUT" }

    /// How long it waits. Source: ref (authn), an example.
    static let lifetime = Duration.seconds(300)

    /// Unique in the sandbox.
    var number = 0
    var factorID = ""
    var userID = ""
    var created = Moment(unixSeconds: 0)
    /// `nil` while nobody has answered.
    var answer: Answer?

    /// The id in paths and in `tx` (ours).
    var id: String { "tx-\(number)" }
    var expires: Moment { created + Self.lifetime }

    func result(at moment: Moment) -> Result {
        switch answer {
        case .approve: .success
        case .deny: .rejected
        case nil: moment < expires ? .waiting : .timeout
        }
    }

    var key: Int { number }
    var group: ExactText? { ExactText(factorID) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("number", &number, in: 1...Ordinal.largest)
        coder.member("factor", &factorID)
        coder.member("user", &userID)
        coder.member("created", &created)
        coder.member("answer", &answer)
    }
}

extension OktaState {
    /// A user's factors, those of the fixtures first.
    func factors(of userID: String) -> [OktaFactor] { factors.all.filter { $0.userID.hasSameBytes(as: userID) } }

    func factor(_ id: String, of userID: String) -> OktaFactor? {
        factors[id].flatMap { $0.userID.hasSameBytes(as: userID) ? $0 : nil }
    }

    mutating func add(_ factor: OktaFactor) {
        factors.store(factor)
        for gone in factors.shrink(to: Self.shortBound, sparing: factor.key) { forgetChallenges(of: gone) }
    }

    /// Removes a factor with its challenges.
    mutating func remove(_ factor: OktaFactor) {
        factors.remove(factor.key)
        forgetChallenges(of: factor)
    }

    private mutating func forgetChallenges(of factor: OktaFactor) {
        for challenge in transactions.records(in: ExactText(factor.id)) { transactions.remove(challenge.key) }
    }

    /// Begins a push challenge; earlier ones keep waiting (ours).
    mutating func challenge(_ factor: OktaFactor, at moment: Moment) -> OktaTransaction {
        let transaction = OktaTransaction(
            number: transactions.nextNumber(), factorID: factor.id, userID: factor.userID, created: moment)
        transactions.add(transaction, within: Self.shortBound)
        return transaction
    }

    func transaction(_ id: String, of factor: OktaFactor) -> OktaTransaction? {
        guard let number = Int(id.dropFirst(3)), let transaction = transactions[number],
            transaction.id.hasSameBytes(as: id), transaction.factorID.hasSameBytes(as: factor.id)
        else { return nil }
        return transaction
    }

    /// The unanswered challenges of a factor, oldest first.
    func pending(_ factor: OktaFactor, at moment: Moment) -> [OktaTransaction] {
        transactions.records(in: ExactText(factor.id)).filter { $0.result(at: moment) == .waiting }
    }

    /// Notes the answer to a challenge that waits for one.
    mutating func answer(_ transaction: OktaTransaction, _ answer: OktaTransaction.Answer) {
        transactions.change(transaction.number) { $0.answer = answer }
    }
}

/// One-time codes by the clock (RFC 6238), as authenticator apps make them.
struct OktaTOTP: Sendable {
    /// The length of a step. Source: postman, `timeStep`.
    static let stepSeconds = OneTimePassword.stepSeconds
    static let digitCount = 6

    private let passwords: OneTimePassword

    /// Reads a secret in base32; `nil` for anything else and for an empty one.
    init?(secret: String) {
        guard let key = Base32.decode(secret), !key.isEmpty else { return nil }
        passwords = OneTimePassword(secret: key)
    }

    /// A new secret of 160 bits, as RFC 4226 section 4 recommends.
    static func newSecret(_ identifiers: IdentifierSource) -> String { identifiers.text(32, of: Base32.alphabet) }

    static func step(at moment: Moment) -> Int { max(0, moment.wholeSeconds) / stepSeconds }

    func code(at step: Int) -> String { passwords.password(UInt64(max(0, step))) }

    /// The step whose code this is: that of a moment, or one beside it, since clocks differ (RFC 6238 section 5.2).
    func step(of code: String, at moment: Moment) -> Int? {
        let now = Self.step(at: moment)
        return [now, now - 1, now + 1].first { $0 >= 0 && self.code(at: $0).hasSameBytes(as: code) }
    }
}

/// What users can be asked besides one-time codes. Source: api, postman; widget.
enum OktaQuestion {
    static let known: [(id: String, text: String)] = [
        ("disliked_food", "What is the food you least liked as a child?"),
        ("name_of_first_plush_toy", "What is the name of your first stuffed animal?"),
        ("first_award", "What did you earn your first medal or award for?"),
        ("favorite_security_question", "What is your favorite security question?"),
        ("favorite_toy", "What is the toy/stuffed animal you liked the most as a kid?"),
        ("first_computer_game", "What was the first computer game you played?"),
        ("favorite_movie_quote", "What is your favorite movie quote?"),
        ("first_sports_team_mascot", "What was the mascot of the first sports team you played on?"),
        ("first_music_purchase", "What music album or song did you first purchase?"),
        ("favorite_art_piece", "What is your favorite piece of art?"),
        ("grandmother_favorite_desert", "What was your grandmother's favorite dessert?"),
        ("first_thing_cooked", "What was the first thing you learned to cook?"),
        ("childhood_dream_job", "What was your dream job as a child?"),
        ("first_kiss_location", "Where did you have your first kiss?"),
        ("place_where_significant_other_was_met", "Where did you meet your spouse/significant other?"),
        ("favorite_vacation_location", "Where did you go for your favorite vacation?"),
        ("new_years_two_thousand", "Where were you on New Year's Eve in the year 2000?"),
        ("favorite_speaker_actor", "Who is your favorite speaker/orator?"),
        ("favorite_book_movie_character", "Who is your favorite book/movie character?"),
        ("favorite_sports_player", "Who is your favorite sports player?"),
    ]

    static func json(_ id: String) -> JSON {
        ["question": .string(id), "questionText": JSON(known.first { $0.id == id }?.text)]
    }
}

enum OktaCodeVerdict { case right, wrong, used }

extension OktaState {
    /// Judges a one-time code of a factor; a right one is then used up.
    mutating func use(code: String, of factor: OktaFactor, at moment: Moment) -> OktaCodeVerdict {
        switch factor.kind {
        case .totp:
            let codes = factor.secret.flatMap(OktaTOTP.init)
            guard let step = codes?.step(of: code, at: moment) else { return .wrong }
            // A use that lies beyond the next step is of a clock that was set back since.
            if let last = factor.lastStep, step <= last, last <= OktaTOTP.step(at: moment) + 1 { return .used }
            factors.change(factor.key) { $0.lastStep = step }
        case .sms, .call:
            guard factor.sentCode?.hasSameBytes(as: code) == true else { return .wrong }
            factors.change(factor.key) { $0.sentCode = nil }
        case .question: return factor.answer?.hasSameBytes(as: code) == true ? .right : .wrong
        case .push: return .wrong
        }
        return .right
    }

    /// Sends a code to the phone of a factor: only the action shows it.
    mutating func sendCode(to factor: OktaFactor, _ identifiers: IdentifierSource) {
        let code = identifiers.text(OktaTOTP.digitCount, of: Array("0123456789".utf8))
        factors.change(factor.key) { $0.sentCode = code }
    }
}
