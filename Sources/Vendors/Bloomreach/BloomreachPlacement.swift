import Emulation

/// What has to be done so that one customer owns all ids of a write.
struct BloomreachPlacement {
    /// The customer whom the write is about; `nil` for a new one.
    var customer: Int?
    /// A customer who becomes part of that one.
    var merged: Int?
    let ids: BloomreachIDs
}

extension BloomreachCustomers {
    /// Whom ids name for a writer, and what happens to those who own some of them; nothing is changed yet.
    ///
    /// Source: the cases are those of the vendor's page on tracking, where it tells (a guest who signs in is merged, a
    /// guest without history elsewhere keeps the record); the others, and conflicts, are ours.
    func placement(of ids: BloomreachIDs) throws(BloomreachRefusal) -> BloomreachPlacement {
        let owners = Set(ids.hard.compactMap(owner(of:)))
        guard owners.count < 2 else {
            throw Refusal(.customerIDsConflict, because: "the ids belong to customers \(owners.sorted())")
        }
        let cookieOwner = ids.cookie.flatMap(owner(ofCookie:)).flatMap { self[$0] }
        if let owner = owners.first {
            guard !hasOther(ids, owner) else {
                throw Refusal(.customerIDsConflict, because: "customer \(owner) has another value for one of the ids")
            }
            try checkRoom(for: ids, owner)
            let isGuest = cookieOwner.map { $0.number != owner && $0.isAnonymous } ?? false
            return BloomreachPlacement(customer: owner, merged: isGuest ? cookieOwner?.number : nil, ids: ids)
        }
        // Whoever has another value for one of the ids is somebody else on the same device.
        let isSame = cookieOwner.map { !hasOther(ids, $0.number) } ?? false
        if let cookieOwner, isSame { try checkRoom(for: ids, cookieOwner.number) }
        return BloomreachPlacement(customer: isSame ? cookieOwner?.number : nil, merged: nil, ids: ids)
    }

    /// Refuses ids with which a customer would have more than ``BloomreachIDs/maximum`` (ours).
    private func checkRoom(for ids: BloomreachIDs, _ number: Int) throws(BloomreachRefusal) {
        let own = self[number]?.ids ?? BloomreachIDs()
        let fresh = ids.hard.count { own[$0.name] == nil }
        guard fresh == 0 || own.hard.count + fresh <= BloomreachIDs.maximum else {
            throw .invalidField(
                "customer_ids", because: "customer \(number) would have more than \(BloomreachIDs.maximum) hard ids")
        }
    }

    private func hasOther(_ ids: BloomreachIDs, _ number: Int) -> Bool {
        guard let own = self[number]?.ids else { return false }
        return ids.hard.contains { id in own[id.name].map { !$0.hasSameBytes(as: id.value) } ?? false }
    }
}

extension BloomreachState {
    /// Does what a placement says.
    ///
    /// - Returns: the number of the customer.
    mutating func settle(_ placement: BloomreachPlacement, in project: String) -> Int {
        let number = placement.customer ?? projects[project, default: .init()].customers.make()
        if let merged = placement.merged { merge(merged, into: number, in: project) }
        projects[project, default: .init()].customers.give(placement.ids.hard, to: number)
        if let cookie = placement.ids.cookie {
            projects[project, default: .init()].customers.give(cookie: cookie, to: number)
        }
        return number
    }
}
