import JSON

/// The identity of a session: an id within a space, since minting calls may give several spaces the same id.
struct ComapiSessionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    let space: ComapiID
    /// The id as clients know it.
    let local: ComapiID

    var description: String { JSON.array([space.json, local.json]).text }

    init(_ text: some StringProtocol, in space: ComapiID) {
        self.space = space
        local = ComapiID(text)
    }

    /// The id as clients know it.
    var text: String { local.text }

    static func < (left: ComapiSessionID, right: ComapiSessionID) -> Bool {
        (left.space, left.local) < (right.space, right.local)
    }
}
