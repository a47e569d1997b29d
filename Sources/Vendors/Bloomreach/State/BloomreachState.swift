import Emulation
import JSON

struct BloomreachState: Sendable {
    var projects: [String: BloomreachRecords] = [:]
    var content: BloomreachContentState

    init(_ accounts: BloomreachAccounts, _ content: BloomreachContent) {
        for (token, customers) in accounts.customers { projects[token] = BloomreachRecords(customers: customers) }
        self.content = BloomreachContentState(content)
    }

    var size: StateSize {
        projects.values.reduce(into: StateSize(bytes: content.byteCount)) { $0 += $1.size }
    }

    func customers(of project: BloomreachProject) -> BloomreachCustomerStore {
        projects[project.token]?.customers ?? BloomreachCustomerStore()
    }

    /// The customer that ids name for a reader of a project.
    func customer(_ ids: BloomreachIDs, of project: BloomreachProject) -> BloomreachCustomer? {
        projects[project.token]?.customers.customer(ids)
    }

    mutating func change<Value>(_ project: String, _ change: (inout BloomreachRecords) -> Value) -> Value {
        change(&projects[project, default: BloomreachRecords()])
    }

    /// Merges a customer into another one and removes the first.
    mutating func merge(_ number: Int, into other: Int, in project: String) {
        change(project) { $0.customers.merge(number, into: other) }
        content.merge(
            from: BloomreachCustomerKey(project: project, number: number),
            into: BloomreachCustomerKey(project: project, number: other))
    }

    /// Removes a customer with all its data.
    mutating func remove(_ number: Int, in project: String) {
        change(project) { $0.customers.remove(number) }
        content.forget(customer: BloomreachCustomerKey(project: project, number: number))
    }

    /// Removes a customer's hard ids, properties and inbox; events and cookies stay (ours).
    mutating func anonymize(_ number: Int, in project: String) {
        change(project) { $0.customers.anonymize(number) }
        content.anonymize(BloomreachCustomerKey(project: project, number: number))
    }

}
