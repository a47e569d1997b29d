import Emulation
import JSON

/// Content keyed by the customer numbers of one sandbox, which may differ under other fixtures.
extension BloomreachState {
    /// The content of another state, for those of its customers that exist here too.
    ///
    /// Customers are matched by their first id.
    func content(of start: BloomreachState) -> BloomreachContentState {
        var numbers: [BloomreachCustomerKey: BloomreachCustomerKey] = [:]
        var claimed: Set<BloomreachCustomerKey> = []
        for (token, records) in start.projects {
            let all = records.customers.all
            // Customers with hard ids first: a cookie may have moved to one of them.
            for customer in all.filter({ !$0.isAnonymous }) + all.filter(\.isAnonymous) {
                guard let name = customer.name, let own = key(of: name, in: token), claimed.insert(own).inserted else {
                    continue
                }
                numbers[BloomreachCustomerKey(project: token, number: customer.number)] = own
            }
        }
        return start.content.renumbered { numbers[$0] }
    }

    func key(of id: BloomreachID, in project: String) -> BloomreachCustomerKey? {
        projects[project]?.customers.owner(of: id).map { BloomreachCustomerKey(project: project, number: $0) }
    }

    /// The content as JSON: all of it, or what differs from what the fixtures give; `nil` for nothing.
    func exportContent(since start: BloomreachState?) -> JSON? {
        let record = BloomreachContentRecord(content, since: start.map(content), of: self)
        return start == nil ? record.json(.changes) : record.changes
    }

    /// Writes the rows of content that differs from what the fixtures give.
    func codeContent(_ coder: inout RecordCoder, since start: BloomreachState) {
        var record = BloomreachContentRecord(content, since: content(of: start), of: self)
        record.code(&coder)
    }

    /// Imports content, after the customers were imported.
    ///
    /// - Parameter start: the state to overlay; `nil` if `node` is the whole content.
    mutating func importContent(_ node: FixtureNode?, over start: BloomreachState?) throws(FixtureProblem) {
        var record = BloomreachContentRecord(start.map(content) ?? BloomreachContentState(), of: self)
        if let node, try !node.json().isNull { try record.read(node, .export(.changes)) }
        content = record.content
    }

    /// Adopts the content of a sandbox that began under replaced fixtures, after its customers were adopted.
    mutating func adoptContent(of state: BloomreachState, from old: BloomreachState, to new: BloomreachState) {
        let adopted = state.content.following(content(of: new), insteadOf: content(of: old))
        let projects = projects
        content = adopted.renumbered { projects[$0.project]?.customers[$0.number] == nil ? nil : $0 }
    }
}
