import Emulation
import JSON

/// A question that the app answers with its own token.
struct ComapiChallenge: Sendable {
    var id = ""
    var space = ComapiID("")
    var nonce = ""
    var issued = Moment(unixSeconds: 0)
    var expires = Moment(unixSeconds: 0)
    /// The session that came of it.
    var answeredBy: String?
}

/// The challenges of a sandbox in the order of their issue, found by their nonces too.
typealias ComapiChallengeStore = RecordTable<ComapiChallenge>

extension ComapiChallengeStore {
    /// Source: the spec, section 8; ours.
    static var capacity: Int { 10_000 }
    /// How long a challenge stays after its end, so that a late answer keeps a name of its own.
    static var remembrance: Duration { .seconds(86_400) }

    func challenge(nonce: String) -> ComapiChallenge? { self[named: nonce] }

    /// Adds a challenge; where there is no room, expired ones go first, then the oldest.
    mutating func add(_ challenge: ComapiChallenge, at moment: Moment) {
        // The first ones for as long as they fit: they were issued in the order of their ends, nearly always.
        remove(added.prefix { self[$0].map { $0.expires + Self.remembrance <= moment } ?? true })
        if count >= Self.capacity { makeRoom(at: moment) }
        store(challenge)
    }

    /// Notes which session a challenge was answered by.
    mutating func answer(_ id: String, by session: String) { change(id) { $0.answeredBy = session } }

    /// A hundredth at once, so that the next ones need not search again.
    private mutating func makeRoom(at moment: Moment) {
        let wanted = Self.capacity / 100
        let expired = all.filter { $0.expires < moment }.map(\.id)
        remove(expired.prefix(wanted))
        remove(keys.prefix(wanted - Swift.min(expired.count, wanted)))
    }

    private mutating func remove(_ ids: some Sequence<String>) { for id in ids { remove(id) } }
}

// MARK: - As a record

extension ComapiChallenge: KeyedRecord, CodedRecord {
    var key: String { id }
    var names: [String] { [nonce] }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("space", &space)
        coder.member("nonce", &nonce)
        coder.instant("issued", &issued)
        coder.instant("expires", &expires)
        coder.member("answered_by", &answeredBy)
    }
}
