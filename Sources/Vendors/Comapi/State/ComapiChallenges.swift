import Emulation
import JSON

/// A question that the app answers with its own token.
struct ComapiChallenge: Sendable {
    let id: String
    let space: ComapiID
    let nonce: String
    let issued: Moment
    let expires: Moment
    /// The session that came of it.
    var answeredBy: String?
}

/// The challenges of a sandbox, within bounds.
struct ComapiChallenges: Sendable {
    /// Source: the spec, section 8; ours.
    static let capacity = 10_000
    /// How long a challenge stays after its end, so that a late answer keeps a name of its own.
    static let remembrance = Duration.seconds(86_400)

    private var challenges: [String: ComapiChallenge] = [:]
    private var nonces: [String: String] = [:]
    /// Ids in the order of their issue.
    private var order = ArrivalOrder<String>()

    /// All of them, in the order of their issue.
    var all: [ComapiChallenge] { order.compactMap { challenges[$0] } }

    var count: Int { challenges.count }

    subscript(id: String) -> ComapiChallenge? { challenges[id] }

    /// The challenge of that nonce.
    func challenge(nonce: String) -> ComapiChallenge? { nonces[nonce].flatMap { challenges[$0] } }

    /// Adds a challenge; where there is no room, expired ones go first, then the oldest.
    mutating func add(_ challenge: ComapiChallenge, at moment: Moment) {
        forget { $0.expires + Self.remembrance <= moment }
        if challenges.count >= Self.capacity { makeRoom(at: moment) }
        challenges[challenge.id] = challenge
        nonces[challenge.nonce] = challenge.id
        order.append(challenge.id)
    }

    /// Notes which session a challenge was answered by.
    mutating func answer(_ id: String, by session: String) { challenges[id]?.answeredBy = session }

    /// Forgets the first ones for as long as they fit: they were issued in the order of their ends, nearly always.
    private mutating func forget(_ isOver: (ComapiChallenge) -> Bool) {
        remove(order.prefix { challenges[$0].map(isOver) ?? true })
    }

    /// A hundredth at once, so that the next ones need not search again.
    private mutating func makeRoom(at moment: Moment) {
        let wanted = Self.capacity / 100
        let expired = order.filter { (challenges[$0]?.expires).map { $0 < moment } ?? true }
        remove(expired.prefix(wanted))
        remove(Array(order.prefix(wanted - Swift.min(expired.count, wanted))))
    }

    private mutating func remove(_ ids: some Sequence<String>) {
        for id in ids {
            if let challenge = challenges.removeValue(forKey: id) { nonces[challenge.nonce] = nil }
            order.remove(id)
        }
    }
}
