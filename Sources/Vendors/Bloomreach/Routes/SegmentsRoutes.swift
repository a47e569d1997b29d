import Emulation
import JSON
import Wire

/// The segments of a customer. Source: observed, both SDKs; the vendor's only response without `success`.
extension Bloomreach {
    /// Returns the segments of the customer with a cookie; none for an unknown cookie.
    static func segments(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        guard let cookie = cookie(call.request), !cookie.isEmpty else {
            throw missing(BloomreachID.cookie, expected: "the cookie of a customer in the query")
        }
        let project = try call.project()
        let ids = BloomreachIDs(cookie: cookie, hard: [])
        let customer = state.customer(ids, of: project)
        try call.bind(cookie: ids, of: customer)
        guard let customer else { return .json([:]) }
        let key = BloomreachCustomerKey(project: project.token, number: customer.number)
        return .json(state.content.segments[key].json)
    }

    /// The cookie of the query. Android 3.13.0 to 4.0.0 wrote `?cookie=?cookie=ID` (observed), which means the id.
    private static func cookie(_ request: Request) -> String? {
        let doubled = "?cookie="
        return request.queryValue("cookie").map {
            $0.hasPrefix(doubled) ? String($0.dropFirst(doubled.count)) : $0
        }
    }
}

extension Call<Bloomreach> {
    /// Checks a call with only a cookie: a token must belong to the cookie's owner (ours). An unknown cookie has no
    /// owner to compare.
    fileprivate mutating func bind(
        cookie ids: BloomreachIDs, of customer: BloomreachCustomer?
    ) throws(BloomreachRefusal) {
        guard credentials.isStream || switches.customerTokenBinding != .off, let customer,
            let owner = credentials.token?.ids(credentials.isStream ? "ids" : "sub")
        else { return }
        let hasCookie = owner.cookie.map { own in ids.cookie?.hasSameBytes(as: own) == true } ?? true
        let hasIDs = owner.hard.allSatisfy { customer.ids[$0.name]?.hasSameBytes(as: $0.value) == true }
        var found = customer.ids
        found.cookie = ids.cookie
        try judge(hasCookie && hasIDs, owner, found)
    }
}
