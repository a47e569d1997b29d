import Emulation
import JSON

/// Content in the numbers that customers have in one sandbox, which other fixtures may give other ones.
extension BloomreachState {
    /// The content that another state has, for those of its customers who are here too.
    ///
    /// A customer is known again by its first id.
    func content(of start: BloomreachState) -> BloomreachContentState {
        var numbers: [BloomreachCustomerKey: BloomreachCustomerKey] = [:]
        var claimed: Set<BloomreachCustomerKey> = []
        for (token, records) in start.projects {
            let all = records.customers.all
            // Those with hard ids first: a cookie may have moved to one of them.
            for customer in all.filter({ !$0.isAnonymous }) + all.filter(\.isAnonymous) {
                guard let name = customer.name, let own = key(of: name, in: token), claimed.insert(own).inserted else {
                    continue
                }
                numbers[BloomreachCustomerKey(project: token, number: customer.number)] = own
            }
        }
        return start.content.renumbered { numbers[$0] }
    }

    /// The customer who has an id in a project.
    func key(of id: BloomreachID, in project: String) -> BloomreachCustomerKey? {
        projects[project]?.customers.owner(of: id).map { BloomreachCustomerKey(project: project, number: $0) }
    }

    /// The content as JSON: all of it, or what differs from what the fixtures give.
    func exportContent(since start: BloomreachState?) -> JSON? {
        content.export(since: start.map(content)) { projects[$0.project]?.customers[$0.number]?.name }
    }

    /// Takes over the content of an import, once the customers are those of the import.
    ///
    /// - Parameter start: the state over which it is laid; `nil` when it is the whole content.
    mutating func importContent(_ node: FixtureNode?, over start: BloomreachState?) throws(FixtureProblem) {
        var content = start.map(content) ?? BloomreachContentState()
        if let node, try !node.json().isNull { try content.lay(node) { key(of: $1, in: $0) } }
        self.content = content
    }

    /// Takes over the content of a sandbox, begun under fixtures that have been replaced, once the customers are here.
    mutating func adoptContent(of state: BloomreachState, from old: BloomreachState, to new: BloomreachState) {
        let adopted = state.content.following(content(of: new), insteadOf: content(of: old))
        let projects = projects
        content = adopted.renumbered { projects[$0.project]?.customers[$0.number] == nil ? nil : $0 }
    }
}
