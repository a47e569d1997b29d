import Emulation
import JSON
import Tokens

/// The app inbox. Source: its paths and its access by customer token are documented (SDK page; reference page of the
/// app inbox), bodies are observed in both SDKs; when a sync token is stale is ours.
extension Bloomreach {
    /// The application of apps that name none, such as those with older SDKs.
    private static let usualApplication = "default-application"

    /// Returns the messages of a customer, or those changed since a sync token was issued.
    ///
    /// A customer that is unknown or has no hard id gets no messages or token (ours), so the SDK keeps fetching all.
    static func fetchInbox(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let (application, token) = try body.read {
            ($0.optionalText("application_id") ?? "", $0.optionalText("sync_token") ?? "")
        }
        let owner = try call.bind(ids)
        guard let customer = state.inboxOwner(owner, in: try call.project()) else {
            return .json(["success": true, "messages": []])
        }
        let inbox = state.content.inbox(of: customer)
        let stamp = try call.stamp(after: token, of: inbox, customer.number)
        let start = state.content.begin(at: call.moment)
        let messages = inbox.listed(
            for: application.isEmpty ? usualApplication : application, at: call.moment, since: start, above: stamp)
        return .json([
            "success": true, "messages": .array(messages.map { $0.json(since: start) }),
            "sync_token": .string(inbox.token(for: customer.number).text),
        ])
    }

    /// Marks messages as read for all devices; if any is not in the inbox, marks none.
    ///
    /// The sync token is the one returned with the message; it must be well-formed, but may be old (ours).
    static func markInboxRead(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let (messages, token) = try body.read { body in
            let messages = body.texts("message_ids", isRequired: true) ?? []
            // ours: no inbox holds more messages, and the SDKs send a list of one.
            if !(1...Inbox.capacity).contains(messages.count) {
                body.refuse("message_ids", "\(messages.count) ids; expected 1 to \(Inbox.capacity)")
            }
            return (messages, body.text("sync_token"))
        }
        let owner = try call.bind(ids)
        if SyncToken(token) == nil, call.switches.syncTokenCheck == .gone {
            throw Refusal(
                .syncTokenUnknown, because: "\(token.shown) is not a sync token; expected one that an answer had")
        }
        let customer = state.inboxOwner(owner, in: try call.project())
        var inbox = customer.map(state.content.inbox) ?? Inbox()
        if let unknown = messages.first(where: { !inbox.contains($0) }) {
            let known = Nearest.known(inbox.messages.lazy.map(\.id))
            throw Refusal(.messageNotFound, because: "the inbox has no message \(unknown.shown)\(known)")
        }
        inbox.markRead(messages)
        if let customer { state.content.setInbox(inbox, of: customer) }
        return .json(["success": true])
    }
}

extension Call<Bloomreach> {
    /// The stamp above which messages are new to a client; 0 returns all messages.
    ///
    /// - Throws: ``BloomreachFailure/syncTokenStale`` and ``BloomreachFailure/syncTokenUnknown``, unless switch
    ///   `sync-token-check` makes such clients fetch in full.
    fileprivate mutating func stamp(
        after text: String, of inbox: Inbox, _ customer: Int
    ) throws(BloomreachRefusal) -> Int {
        if text.isEmpty { return 0 }
        let position = inbox.position(of: text, customer)
        let failure: BloomreachFailure? =
            switch position {
            case .current, .elsewhere, .ahead: nil
            case .stale: .syncTokenStale
            case .unreadable: .syncTokenUnknown
            }
        let isRefused = failure != nil && switches.syncTokenCheck == .gone
        let expected = "v1.\(customer).\(inbox.epoch).0 to \(inbox.token(for: customer).text), or none"
        findings.add(
            Finding(
                "sync-token", isRefused ? .failed : .passed,
                expected: .text(expected),
                found: .text(String(text.prefix(100))), note: position.note,
                source: "410: iOS tests; form and reasons ours; switch sync-token-check"),
            orFail: failure ?? .syncTokenUnknown)
        if let failure, isRefused {
            throw Refusal(failure, because: "sync_token: found \(text.shown); expected \(expected). \(position.note)")
        }
        return if case .current(let stamp) = position { stamp } else { 0 }
    }
}

extension BloomreachState {
    /// The customer whose inbox the ids name: only customers with a hard id have one, so a cookie does not count
    /// (documented, reference page of the app inbox).
    fileprivate func inboxOwner(_ ids: BloomreachIDs, in project: BloomreachProject) -> BloomreachCustomerKey? {
        projects[project.token]?.customers.customer(hard: ids)
            .map { BloomreachCustomerKey(project: project.token, number: $0.number) }
    }
}
