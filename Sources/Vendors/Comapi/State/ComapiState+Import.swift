import Emulation
import JSON
import Tokens

/// Reading what an export wrote, checked against itself.
extension Comapi {
    func state(
        importing node: FixtureNode, _ extent: StateExtent, over current: ComapiState
    ) throws(FixtureProblem) -> ComapiState {
        let document = try node.mapping(
            "adopts_earlier_sessions", "mint_mark", "challenges", "sessions", "ended_sessions", "spaces", "contents")
        var state = ComapiState()
        // What is put into a sandbox by hand changes nothing about whose tokens are good there.
        state.adoptsEarlierSessions =
            try document["adopts_earlier_sessions"]?.bool() ?? current.adoptsEarlierSessions
        state.mintMark = try document["mint_mark"]?.string() ?? current.mintMark
        try document["challenges"]?.forEachRecord(atMost: ComapiChallenges.capacity) { (node) throws(FixtureProblem) in
            state.challenges.add(try ComapiChallenge(node), at: Moment(unixSeconds: 0))
        }
        try document["sessions"]?.forEachRecord(atMost: ComapiSessions.capacity) { (node) throws(FixtureProblem) in
            let session = try ComapiSession(node)
            guard state.sessions[session.id] == nil else {
                throw node.problem("session \(session.id.text) stands there twice")
            }
            state.sessions.add(session)
        }
        try document["ended_sessions"]?.forEachRecord(atMost: ComapiSessions.endedCapacity) {
            (node) throws(FixtureProblem) in
            state.sessions.noteEnd(of: try ComapiSessionID(try node.mapping("id", "space")))
        }
        try document["spaces"]?.forEachRecord { (node) throws(FixtureProblem) in try state.read(space: node) }
        try document["contents"]?.forEachRecord(atMost: ComapiContents.capacity) { (node) throws(FixtureProblem) in
            state.contents.add(try ComapiContent(node))
        }
        return state
    }
}

extension ComapiState {
    fileprivate mutating func read(space node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "profiles", "conversations", "pushes")
        let id = ComapiID(try entry.required("id").string())
        let old = self
        guard spaces[id] == nil else { throw node.problem("another space has the id \(id.text)") }
        var space = ComapiSpaceState()
        try entry["profiles"]?.forEachRecord(atMost: Self.recordCapacity) { (node) throws(FixtureProblem) in
            let profile = try ComapiProfile(node)
            guard space.profiles.updateValue(profile, forKey: profile.id) == nil else {
                throw node.problem("another profile has the id \(profile.id.text)")
            }
            count(bytes: profile.byteCount, records: 1)
        }
        try entry["conversations"]?.forEachRecord(atMost: Self.recordCapacity) { (node) throws(FixtureProblem) in
            let conversation = try ComapiConversation(node)
            guard space.conversations.updateValue(conversation, forKey: conversation.id) == nil else {
                throw node.problem("another conversation has the id \(conversation.id.text)")
            }
            count(bytes: conversation.byteCount + conversation.log.byteCount, records: 1)
        }
        try entry["pushes"]?.forEachRecord(atMost: ComapiSpaceState.pushCapacity) { (node) throws(FixtureProblem) in
            space.note(push: try node.verbatim())
        }
        self[id] = space
        do throws(ComapiRefusal) {
            try checkRoom(bytes: 0)
        } catch {
            self = old
            throw node.problem(error.reason ?? "there is no room for it")
        }
    }
}

extension ComapiChallenge {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "space", "nonce", "issued", "expires", "answered_by")
        self.init(
            id: try entry.required("id").string(), space: ComapiID(try entry.required("space").string()),
            nonce: try entry.required("nonce").string(), issued: try entry.required("issued").instant(),
            expires: try entry.required("expires").instant(), answeredBy: try entry["answered_by"]?.string())
    }
}

extension ComapiSessionID {
    fileprivate init(_ entry: FixtureMapping) throws(FixtureProblem) {
        self.init(try entry.required("id").string(), in: ComapiID(try entry.required("space").string()))
    }
}

extension ComapiSession {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "space", "profile", "device", "source", "nonce", "started", "expires", "registration")
        self.init(
            id: try ComapiSessionID(entry),
            profileID: ComapiID(try entry.required("profile").string()),
            started: try entry.required("started").instant(), expires: try entry.required("expires").instant())
        if let node = entry["device"] {
            for (name, value) in try node.mapping(ComapiSession.deviceMembers).members {
                device.append(name, .string(try value.string()))
            }
        }
        sourceAddress = try entry["source"]?.string() ?? ""
        nonce = try entry["nonce"]?.string() ?? ""
        guard let node = entry["registration"] else { return }
        let value = try node.verbatim()
        do throws(ComapiRefusal) {
            registration = try ComapiRegistration.read(value)
        } catch {
            throw node.problem(error.reason ?? "is no registration")
        }
    }
}

extension ComapiProfile {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "members", "created", "updated", "revision")
        let created = try entry.required("created").instant()
        var members = JSONObject()
        for (name, value) in try entry["members"]?.members() ?? [] {
            guard name != "id", !name.utf8.starts(with: "_".utf8) else {
                throw value.nameProblem("\(name) is the server's own")
            }
            // No name stands there twice.
            members.append(name, try value.verbatim())
        }
        self.init(
            id: ComapiID(try entry.required("id").string()), members: members, created: created,
            updated: try entry["updated"]?.instant() ?? created,
            revision: try entry["revision"]?.int(in: 1...Ordinal.largest) ?? 1)
    }
}

extension ComapiContent {
    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "space", "name", "type", "folder", "data")
        let data = try entry.required("data")
        guard let bytes = Base64URL.decodeLeniently(try data.string().utf8) else { throw data.problem("is not base64") }
        guard bytes.count <= ComapiContents.largest else {
            throw data.problem("has more than \(ComapiContents.largest) bytes")
        }
        self.init(
            id: try entry.required("id").string(), space: ComapiID(try entry.required("space").string()),
            name: try entry.required("name").string(), type: try entry.required("type").string(),
            folder: try entry["folder"]?.string() ?? "content", bytes: bytes)
    }
}

extension FixtureNode {
    /// The moment here: Unix seconds, or an RFC 3339 date.
    ///
    /// The seconds may lie beyond what a clock shows: so may the end of a session, which its token says.
    func instant() throws(FixtureProblem) -> Moment {
        guard let text = try verbatim().string else { return try keptMoment() }
        guard let moment = Moment(text: text) else { throw problem("“\(text)” is no moment") }
        return moment
    }
}
