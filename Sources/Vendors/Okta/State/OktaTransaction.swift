import Emulation
import JSON

/// A push challenge, which the device of a factor answers.
struct OktaTransaction: Sendable, Equatable {
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
}

extension OktaTransaction: KeyedRecord, CodedRecord {
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
    /// Begins a push challenge; earlier ones go on waiting (ours).
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
