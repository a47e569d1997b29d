import Emulation
import JSON
import Tokens

/// State as JSON; the fixtures give none, so all state comes from requests.
extension Comapi: RecordedVendor {
    var initialState: State { ComapiState() }

    func size(of state: State) -> StateSize { state.size }

    func code(_ state: inout State, _ coder: inout RecordCoder) {
        if coder.isReading { state = ComapiState(rememberedFrom: state) }
        coder.note(isChanged: !state.adoptsEarlierSessions || state.mintMark != initialState.mintMark)
        // Importing state into a sandbox does not change whose tokens it accepts.
        coder.member("adopts_earlier_sessions", &state.adoptsEarlierSessions, or: state.adoptsEarlierSessions)
        coder.member("mint_mark", &state.mintMark, or: state.mintMark)
        var challenges = state.challenges.all
        coder.list("challenges", &challenges, atMost: ComapiChallengeStore.capacity)
        if coder.isReading { for one in challenges { state.challenges.add(one, at: Moment(unixSeconds: 0)) } }
        coder.table("sessions", &state.sessions.table, isRequired: false)
        let ended = coder.elements { state.sessions.ended.map { ["id": $0.local.json, "space": $0.space.json] } }
        coder.list("ended_sessions", ended, atMost: ComapiSessionStore.endedCapacity) { (node) throws(FixtureProblem) in
            let entry = try node.mapping("id", "space")
            let space = ComapiID(try entry.required("space").string())
            state.sessions.noteEnd(of: ComapiSessionID(try entry.required("id").string(), in: space))
        }
        if coder.isWritingRows {
            state.codeSpaces(&coder)
        } else {
            var spaces = coder.isReading ? [] : state.spaces.values.sorted { $0.id < $1.id }
            coder.list("spaces", &spaces) { state.add($0) }
        }
        var contents = state.contents.all
        coder.list("contents", &contents)
        if coder.isReading { for content in contents { state.contents.store(content) } }
    }

    /// A reset also ends sessions of earlier runs, and invalidates tokens minted before it.
    ///
    /// The new mark is derived from the old one: with a seed, the same calls yield the same tokens.
    func state(afterResetting old: State) -> State {
        var state = ComapiState()
        state.adoptsEarlierSessions = false
        state.mintMark = "reset-\((old.mintMark.split(separator: "-").last.flatMap { Int($0) } ?? 0) &+ 1)"
        return state
    }
}

extension ComapiState {
    /// A state without records that still knows which tokens it accepts.
    fileprivate init(rememberedFrom old: ComapiState) {
        (adoptsEarlierSessions, mintMark) = (old.adoptsEarlierSessions, old.mintMark)
    }

    /// Adds an imported space.
    ///
    /// - Returns: why it was not added.
    fileprivate mutating func add(_ space: ComapiSpaceState) -> String? {
        if spaces[space.id] != nil { return "another space has the id \(space.id.text)" }
        self[space.id] = space
        return nil
    }
}

extension RecordCoder {
    /// A moment: Unix seconds, or an RFC 3339 date.
    ///
    /// The seconds may exceed the clock's range, as may a session's end, which its token sets.
    mutating func instant(_ name: String, _ value: inout Moment, or standard: Moment? = nil) {
        member(name, &value, or: standard, write: { $0.written }, read: Self.instant)
    }

    mutating func instant(_ name: String, _ value: inout Moment?) {
        member(name, &value, or: .some(nil), write: { $0?.written }, read: Self.instant)
    }

    private static func instant(_ node: FixtureNode) throws(FixtureProblem) -> Moment {
        guard let text = try node.verbatim().string else { return try node.keptMoment() }
        guard let moment = Moment(text: text) else { throw node.problem("“\(text)” is not a moment") }
        return moment
    }
}
