public import JSON
import Tokens

/// Minting and explaining tokens.
extension VendorStateStore {
    @usableFromInline
    func mint(
        _ order: MintRequest, at moment: Moment, by selector: SandboxSelector, _ identifiers: IdentifierSource
    ) throws(MintRefusal) -> MintedToken {
        let content = snapshot()
        let vendor = content.runtime.vendor
        let setting = TokenSetting<V>(
            state: content.state, moment: moment, switches: switches, sandbox: sandbox, selector: selector,
            identifiers: identifiers)
        let own = V.tokenKinds.first { $0.name == order.kind }?.defects ?? []
        // A defect of the vendor's own may only show with the request, such as another customer's path.
        guard let defect = order.members["defect"]?.string, !own.contains(defect) else {
            return try vendor.mint(order, in: setting)
        }
        try Self.check(defect, of: order, own)
        let minted = try vendor.mint(order, in: setting)
        var members = order.members
        members["defect"] = nil
        let sound = try vendor.mint(MintRequest(kind: order.kind, members: members), in: setting)
        func marks(_ token: MintedToken) -> [String] {
            vendor.explain(token.token, knowing: [:], in: setting).findings.all.map {
                "\($0.check) \($0.outcome) \($0.found == nil || $0.found == .absent) \($0.note ?? "")"
            }
        }
        if marks(minted) != marks(sound) { return minted }
        // A test with such a token would prove nothing.
        throw MintRefusal(
            "the defect \(defect) changes nothing in this token of kind \(order.kind): \(V.identity.title) finds the same "
                + "without it")
    }

    private static func check(_ defect: String, of order: MintRequest, _ own: [String]) throws(MintRefusal) {
        do throws(MintError) {
            _ = try Defect(named: defect)
        } catch {
            let hint = Nearest.hint(to: defect, among: own + Defect.names)
            throw MintRefusal("a token of kind \(order.kind) has no defect \(defect)\(hint)")
        }
    }

    @usableFromInline
    func explain(_ token: String, knowing context: JSONObject, at moment: Moment) -> TokenExplanation {
        let (content, switches) = (snapshot(), switches)
        let verdict = content.runtime.vendor.explain(
            token, knowing: context,
            in: TokenSetting(state: content.state, moment: moment, switches: switches, sandbox: sandbox))
        let (catalog, values) = (runtime.catalog, switchValues)
        let response = verdict.findings.refusal.map {
            catalog.response($0.failure, $0.parameters, route: nil, switches: values)
        }
        let compact = CompactToken(token)
        let settings = content.runtime.vendor.checkerSettings(in: content.state, switches)
        return TokenExplanation(
            vendor: V.identity.id, kind: verdict.kind, account: verdict.account,
            failure: verdict.findings.failure?.rawValue, response: response, findings: verdict.findings.all,
            clients: V.checkers.map { ($0.name, $0.verdict(on: compact, at: moment, settings)) })
    }
}
