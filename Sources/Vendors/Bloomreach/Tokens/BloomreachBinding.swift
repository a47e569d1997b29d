import Emulation
import JSON
import Tokens

/// The ids of a token and of the request, and whether they agree.
struct BloomreachBinding: RuleFacts {
    typealias Failure = BloomreachFailure

    let owner: BloomreachIDs
    /// The ids of the request; `nil` if it names no customer.
    var ids: BloomreachIDs?
    var holds = true
    let isStream: Bool

    var compact: CompactToken? { nil }
    var failure: BloomreachFailure { isStream ? .streamTokenIDsMismatch : .customerTokenIDsMismatch }
}

extension Bloomreach {
    static let bindingRules = RuleList([
        TokenRule<BloomreachBinding>(
            "token-ids", expects: .text("the ids of the token"),
            source: "SDK page, retrieval policy; switch customer-token-binding; streams ours",
            orFail: [.customerTokenIDsMismatch, .streamTokenIDsMismatch], by: { Refusal($0.failure) }
        ) { facts, finding in
            finding?.expected = .json(facts.owner.json)
            finding?.found = (facts.ids?.json).map(Fact.json)
            if facts.ids != nil { return facts.holds ? .passed : .failed }
            finding?.expected = nil
            finding?.found = .json(facts.owner.json)
            finding?.note = "The request names nobody, so the token does."
            finding?.source = "reference page on customer tokens"
            return .noted
        }
    ])
}

/// A token's ids are compared with those of the request, whatever the stored records say. Nothing is remembered (ours),
/// since each request carries its ids: the ids sent with a token can make it invalid.
extension Call<Bloomreach> {
    /// Checks whether the token may speak for these ids.
    ///
    /// Source: the rule is documented (SDK page: a token belongs to the ids it was issued for); the comparison is ours.
    ///
    /// - Parameter isWrite: whether the call stores data under the ids, for which a stream may require a token.
    /// - Returns: the ids to use: those given, or the token's own for a reader or if the request names no customer.
    mutating func bind(_ ids: BloomreachIDs, isWrite: Bool = false) throws(BloomreachRefusal) -> BloomreachIDs {
        guard let token = credentials.token else {
            if isWrite { try requireSignature(for: ids) }
            return ids
        }
        let isStream = credentials.isStream
        guard let owner = token.ids(isStream ? "ids" : "sub") else { return ids }
        guard !ids.isEmpty else {
            findings.judge(BloomreachBinding(owner: owner, isStream: isStream), by: Bloomreach.bindingRules)
            return owner
        }
        let holds = isStream ? Self.agrees(owner, with: ids) : matches(owner, ids)
        try judge(holds, owner, ids)
        if isWrite || (!isStream && switches.customerTokenBinding == .off) { return ids }
        // A cookie alone proves nothing (ours): hard ids in the token determine whose data is read.
        return owner.hard.isEmpty ? ids : BloomreachIDs(hard: owner.hard)
    }

    /// Records whether the token belongs to the ids, and throws if not.
    mutating func judge(_ holds: Bool, _ owner: BloomreachIDs, _ ids: BloomreachIDs) throws(BloomreachRefusal) {
        let binding = BloomreachBinding(owner: owner, ids: ids, holds: holds, isStream: credentials.isStream)
        findings.judge(binding, by: Bloomreach.bindingRules)
        if !holds {
            let (own, named) = Lookalikes.toldApart(owner.json.text, ids.json.text)
            throw Refusal(
                binding.failure,
                because: "the token belongs to \(own), the request names \(named); expected the same ids")
        }
    }

    /// Whether a customer token fits the ids of the request, according to switch `customer-token-binding`.
    private func matches(_ owner: BloomreachIDs, _ ids: BloomreachIDs) -> Bool {
        let hasCookie = owner.cookie.map { own in ids.cookie.map { $0.hasSameBytes(as: own) } ?? false } ?? true
        return switch switches.customerTokenBinding {
        case .exact: hasCookie && owner.hard == ids.hard
        case .subset: hasCookie && owner.hard.allSatisfy { ids[$0.name]?.hasSameBytes(as: $0.value) == true }
        case .off: true
        }
    }

    /// Whether every id of the request that is also in the token has the same value.
    private static func agrees(_ owner: BloomreachIDs, with ids: BloomreachIDs) -> Bool {
        let cookies = [owner.cookie, ids.cookie].compactMap { $0 }
        return (cookies.count < 2 || cookies[0].hasSameBytes(as: cookies[1]))
            && owner.hard.allSatisfy { id in ids[id.name].map { $0.hasSameBytes(as: id.value) } ?? true }
    }

    /// A stream may require a token for writes under certain ids (ours).
    private func requireSignature(for ids: BloomreachIDs) throws(BloomreachRefusal) {
        guard let stream = credentials.stream else { return }
        let name = ids.names.first { name in stream.signedOnlyIDs.contains { $0.hasSameBytes(as: name) } }
        if let name {
            throw Refusal(
                .streamSignatureRequired,
                because: "\(stream.id) takes \(name) with a token only; expected Authorization: Bearer with one")
        }
    }
}
