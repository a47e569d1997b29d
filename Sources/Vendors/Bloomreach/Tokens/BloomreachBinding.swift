import Emulation
import JSON
import Tokens

/// The ids of a token beside those of the request, and whether they agree.
struct BloomreachBinding: RuleFacts {
    typealias Failure = BloomreachFailure

    let owner: BloomreachIDs
    /// Those of the request; `nil` when it names nobody.
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
            source: "seed, retrieval policy; switch customer-token-binding; streams ours",
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

/// The ids of a token are held against those of the request, whatever the stored records say. Nothing is remembered
/// (ours), since each request carries its ids: a token becomes invalid by the ids that are sent with it.
extension Call<Bloomreach> {
    /// Judges whether the token may speak for these ids.
    ///
    /// Source: the rule is documented (seed: a token belongs to the ids it was issued for), how it is compared is ours.
    ///
    /// - Parameter isWrite: whether something is stored under the ids, for which a stream may want a token.
    /// - Returns: whom the call is about: those ids, or the token's own where the request names nobody, and for a reader.
    mutating func bind(
        _ ids: BloomreachIDs, isWrite: Bool = false
    ) throws(BloomreachRefusal) -> BloomreachIDs {
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
        // A cookie alone proves nothing (ours): where the token has hard ids, they tell whose data is read.
        return owner.hard.isEmpty ? ids : BloomreachIDs(hard: owner.hard)
    }

    /// Records whether the token belongs to ids, and refuses where it does not.
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

    /// Whether a customer token fits the ids of the request, as switch `customer-token-binding` wants it.
    private func matches(_ owner: BloomreachIDs, _ ids: BloomreachIDs) -> Bool {
        let hasCookie = owner.cookie.map { own in ids.cookie.map { $0.hasSameBytes(as: own) } ?? false } ?? true
        return switch switches.customerTokenBinding {
        case .exact: hasCookie && owner.hard == ids.hard
        case .subset: hasCookie && owner.hard.allSatisfy { ids[$0.name]?.hasSameBytes(as: $0.value) == true }
        case .off: true
        }
    }

    /// Whether no id of the request has another value than the token gives it.
    private static func agrees(_ owner: BloomreachIDs, with ids: BloomreachIDs) -> Bool {
        let cookies = [owner.cookie, ids.cookie].compactMap { $0 }
        return (cookies.count < 2 || cookies[0].hasSameBytes(as: cookies[1]))
            && owner.hard.allSatisfy { id in ids[id.name].map { $0.hasSameBytes(as: id.value) } ?? true }
    }

    /// A stream may keep ids for writes with a token (ours).
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
