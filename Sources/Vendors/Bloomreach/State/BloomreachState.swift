import Emulation
import JSON

/// What Bloomreach remembers in one sandbox.
struct BloomreachState: Sendable {
    /// The records of each project, by its token.
    var projects: [String: BloomreachRecords] = [:]
    /// Inboxes and what else belongs to content.
    var content: BloomreachContentState

    init(_ accounts: BloomreachAccounts, _ content: BloomreachContent) {
        for (token, customers) in accounts.customers { projects[token] = BloomreachRecords(customers: customers) }
        self.content = BloomreachContentState(content)
    }

    /// The customers of a project.
    func customers(of project: BloomreachProject) -> BloomreachCustomerStore {
        projects[project.token]?.customers ?? BloomreachCustomerStore()
    }

    /// Whom ids name for a reader of a project.
    func customer(_ ids: BloomreachIDs, of project: BloomreachProject) -> BloomreachCustomer? {
        projects[project.token]?.customers.customer(ids)
    }

    /// Changes the records of a project in place.
    mutating func change<Value>(_ project: String, _ change: (inout BloomreachRecords) -> Value) -> Value {
        change(&projects[project, default: BloomreachRecords()])
    }

    /// Makes one customer of two: the first is gone afterwards.
    mutating func merge(_ number: Int, into other: Int, in project: String) {
        change(project) { $0.customers.merge(number, into: other) }
        content.merge(
            from: BloomreachCustomerKey(project: project, number: number),
            into: BloomreachCustomerKey(project: project, number: other))
    }

    /// Removes a customer with all that belongs to it.
    mutating func remove(_ number: Int, in project: String) {
        change(project) { $0.customers.remove(number) }
        content.forget(customer: BloomreachCustomerKey(project: project, number: number))
    }

    /// Takes hard ids, properties and inbox from a customer; events and cookies stay (ours).
    mutating func anonymize(_ number: Int, in project: String) {
        change(project) { $0.customers.anonymize(number) }
        content.anonymize(BloomreachCustomerKey(project: project, number: number))
    }

    /// Keeps within the bounds of a sandbox after something was stored for a customer.
    mutating func shrink(_ project: String, sparing number: Int) {
        for gone in change(project, { $0.customers.shrink(sparing: number) }) {
            content.forget(customer: BloomreachCustomerKey(project: project, number: gone))
        }
    }
}
