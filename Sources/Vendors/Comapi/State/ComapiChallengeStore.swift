import Emulation
import JSON

/// A challenge that the app answers with its own token.
struct ComapiChallenge: Sendable {
    var id = ""
    var space = ComapiID("")
    var nonce = ""
    var issued = Moment(unixSeconds: 0)
    var expires = Moment(unixSeconds: 0)
    var answeredBy: String?
}

/// The challenges of a sandbox in order of issue, indexed by nonce too.
typealias ComapiChallengeStore = RecordTable<ComapiChallenge>

extension ComapiChallengeStore {
    /// ours.
    static var capacity: Int { 10_000 }
    /// How long an expired challenge is kept, so that a late answer gets a specific failure.
    static var remembrance: Duration { .seconds(86_400) }

    func challenge(nonce: String) -> ComapiChallenge? { self[named: nonce] }

    /// Adds a challenge; if there is no room, removes expired ones first, then the oldest.
    mutating func add(_ challenge: ComapiChallenge, at moment: Moment) {
        // Only the leading ones: challenges expire nearly always in order of issue.
        remove(added.prefix { self[$0].map { $0.expires + Self.remembrance <= moment } ?? true })
        if count >= Self.capacity { makeRoom(at: moment) }
        store(challenge)
    }

    mutating func answer(_ id: String, by session: String) { change(id) { $0.answeredBy = session } }

    /// Removes a hundredth at once, so that the next additions need no search.
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
