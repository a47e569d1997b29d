import Emulation

/// The changes needed so that one customer owns all ids of a write.
struct BloomreachPlacement {
    /// The customer to write to; `nil` for a new one.
    var customer: Int?
    var merged: Int?
    let ids: BloomreachIDs
}

extension BloomreachCustomerStore {
    /// The customer that ids name for a writer, and what happens to the current owners of the ids; changes nothing yet.
    ///
    /// Source: the vendor's page on tracking, for the cases it describes (a guest who signs in is merged, a guest
    /// without history elsewhere keeps the record); the other cases, and conflicts, are ours.
    func placement(of ids: BloomreachIDs) throws(BloomreachRefusal) -> BloomreachPlacement {
        let owners = Set(ids.hard.compactMap(owner(of:)))
        try BloomreachRefusal.require(owners.count < 2, .customerIDsConflict, conflict(of: ids))
        let cookieOwner = ids.cookie.flatMap(owner(ofCookie:)).flatMap { self[$0] }
        if let owner = owners.first {
            try BloomreachRefusal.require(!hasOther(ids, owner), .customerIDsConflict, conflict(of: ids, with: owner))
            try checkRoom(for: ids, owner)
            let isGuest = cookieOwner.map { $0.number != owner && $0.isAnonymous } ?? false
            return BloomreachPlacement(customer: owner, merged: isGuest ? cookieOwner?.number : nil, ids: ids)
        }
        // A customer with another value for one of the ids is a different person on the same device.
        let isSame = cookieOwner.map { !hasOther(ids, $0.number) } ?? false
        if let cookieOwner, isSame { try checkRoom(for: ids, cookieOwner.number) }
        return BloomreachPlacement(customer: isSame ? cookieOwner?.number : nil, merged: nil, ids: ids)
    }

    /// Which id names which customer.
    private func conflict(of ids: BloomreachIDs) -> String {
        let owners = ids.hard.compactMap { id in
            owner(of: id).map { "\(id.name) \(id.value) is customer \($0) (\(name(of: $0)))" }
        }
        return "the ids belong to different customers: \(owners.joined(separator: ", ")); expected ids of one customer"
    }

    /// Which id has another value at the customer.
    private func conflict(of ids: BloomreachIDs, with number: Int) -> String {
        let own = self[number]?.ids ?? BloomreachIDs()
        let other = ids.hard.first { id in own[id.name].map { !$0.hasSameBytes(as: id.value) } ?? false }
        let value = other.flatMap { own[$0.name] } ?? ""
        return "customer \(number) (\(name(of: number))) has \(other?.name ?? "") \(value), not \(other?.value ?? "")"
    }

    private func name(of number: Int) -> String {
        guard let name = self[number]?.name else { return "without id" }
        return "\(name.name) \(name.value)"
    }

    /// Rejects ids that would give a customer more than ``BloomreachIDs/maximum`` (ours).
    private func checkRoom(for ids: BloomreachIDs, _ number: Int) throws(BloomreachRefusal) {
        let own = self[number]?.ids ?? BloomreachIDs()
        let fresh = ids.hard.count { own[$0.name] == nil }
        guard fresh == 0 || own.hard.count + fresh <= BloomreachIDs.maximum else {
            throw .invalidField(
                "customer_ids",
                because:
                    "customer \(number) would have \(own.hard.count + fresh) hard ids; expected at most \(BloomreachIDs.maximum)"
            )
        }
    }

    private func hasOther(_ ids: BloomreachIDs, _ number: Int) -> Bool {
        guard let own = self[number]?.ids else { return false }
        return ids.hard.contains { id in own[id.name].map { !$0.hasSameBytes(as: id.value) } ?? false }
    }
}

extension BloomreachState {
    /// Applies a placement.
    ///
    /// - Returns: the number of the customer.
    @discardableResult
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
