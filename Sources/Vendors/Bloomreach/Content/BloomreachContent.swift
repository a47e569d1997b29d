import Emulation
import JSON

/// Content from the fixtures, by project; only inboxes, segments and consents can change later.
struct BloomreachContent: Sendable {
    /// The content that a project shows to its customers.
    struct Project: Sendable {
        var inAppMessages: [InAppMessage] = []
        var blocks: [ContentBlock] = []
        var consentCategories: [ConsentCategory] = []
        var recommendations = RecommendationCatalog()
        var computed: [ComputedAttribute] = []
    }

    private(set) var projects: [String: Project] = [:]
    /// The state every sandbox starts with.
    private(set) var initialState = BloomreachContentState()

    /// The content of a project; empty if the fixtures omit the project.
    subscript(project: String) -> Project { projects[project] ?? Project() }
}

// MARK: - content/*.yaml

extension BloomreachContent {
    /// Reads the files in the folder `content`, one per kind.
    init(_ fixtures: VendorFixtures, _ accounts: BloomreachAccounts) throws(FixtureProblem) {
        let directory = ContentDirectory(accounts)
        let reader = ContentFiles(fixtures: fixtures, directory: directory)
        try reader.read("in-app-messages") { (project, node) throws(FixtureProblem) in
            projects[project, default: Project()].inAppMessages = try Self.list(node, InAppMessage.init, id: \.id)
        }
        try reader.read("content-blocks") { (project, node) throws(FixtureProblem) in
            projects[project, default: Project()].blocks = try Self.list(node, ContentBlock.init, id: \.id)
        }
        try reader.read("recommendations") { (project, node) throws(FixtureProblem) in
            projects[project, default: Project()].recommendations = try RecommendationCatalog(node)
        }
        try reader.read("computed-attributes") { (project, node) throws(FixtureProblem) in
            projects[project, default: Project()].computed = try Self.list(
                node,
                { (node) throws(FixtureProblem) in try ComputedAttribute(node, of: project, directory) },
                id: { "\($0.kind.rawValue) \($0.id)" })
        }
        try reader.read("consents") { (project, node) throws(FixtureProblem) in
            try readConsents(project, node, directory)
        }
        try reader.read("segments") { (project, node) throws(FixtureProblem) in
            for (customer, entry) in try directory.entries(node, of: project, "segments") {
                initialState.segments[customer] = try CustomerSegments(try entry.required("segments"))
            }
        }
        try reader.read("app-inbox") { (project, node) throws(FixtureProblem) in
            for (customer, entry) in try directory.entries(node, of: project, "messages") {
                initialState.setInbox(try Inbox(try entry.required("messages"), fixtures), of: customer)
            }
        }
    }

    private mutating func readConsents(
        _ project: String, _ node: FixtureNode, _ directory: ContentDirectory
    ) throws(FixtureProblem) {
        let entry = try node.mapping("categories", "customers")
        let categories = try Self.list(try entry.required("categories"), ConsentCategory.init, id: \.id)
        projects[project, default: Project()].consentCategories = categories
        guard let customers = entry["customers"] else { return }
        for (customer, entry) in try directory.entries(customers, of: project, "consents") {
            for (category, node) in try entry.required("consents").members() {
                guard categories.contains(where: { $0.id == category }) else {
                    let hint = Nearest.hint(to: category, among: categories.map(\.id))
                    throw node.nameProblem("the project has no consent category \(category)\(hint)")
                }
                initialState.setConsent(try node.bool(), to: category, of: customer)
            }
        }
    }

    private static func list<Entry>(
        _ node: FixtureNode, _ read: (FixtureNode) throws(FixtureProblem) -> Entry, id: (Entry) -> String
    ) throws(FixtureProblem) -> [Entry] {
        var (entries, ids): ([Entry], Set<String>) = ([], [])
        for node in try node.elements() {
            let entry = try read(node)
            guard ids.insert(id(entry)).inserted else { throw node.problem("another entry has the id \(id(entry))") }
            entries.append(entry)
        }
        return entries
    }
}

/// The content files in a vendor's folder, each with a member for every project it covers.
private struct ContentFiles {
    let fixtures: VendorFixtures
    let directory: ContentDirectory

    func read(_ name: String, _ body: (String, FixtureNode) throws(FixtureProblem) -> Void) throws(FixtureProblem) {
        let document = try fixtures.document("content/\(name).yaml").mapping("projects")
        for (project, node) in try document.required("projects").members() {
            guard directory.projects.contains(project) else {
                let hint = Nearest.hint(to: project, among: directory.projects)
                throw node.nameProblem("accounts.yaml has no project \(project)\(hint)")
            }
            try body(project, node)
        }
    }
}

/// The projects and customers that content may refer to: those in `accounts.yaml`.
struct ContentDirectory {
    let projects: [String]
    private let customers: [String: BloomreachCustomerStore]

    init(_ accounts: BloomreachAccounts) {
        projects = accounts.projects.map(\.token)
        customers = accounts.customers
    }

    /// The entries of a list, each for a different customer and with a member of that name.
    func entries(
        _ list: FixtureNode, of project: String, _ member: String
    ) throws(FixtureProblem) -> [(BloomreachCustomerKey, FixtureMapping)] {
        var entries: [(BloomreachCustomerKey, FixtureMapping)] = []
        for node in try list.elements() {
            let entry = try node.mapping("customer", member)
            let customer = try customer(try entry.required("customer"), of: project)
            guard !entries.contains(where: { $0.0 == customer }) else {
                throw node.problem("another entry is for the same customer")
            }
            entries.append((customer, entry))
        }
        return entries
    }

    private func customer(_ node: FixtureNode, of project: String) throws(FixtureProblem) -> BloomreachCustomerKey {
        let id = try BloomreachID(naming: node)
        guard let number = customers[project]?.owner(of: id) else {
            throw node.problem("accounts.yaml has no customer of project \(project) whose \(id.name) is “\(id.value)”")
        }
        return BloomreachCustomerKey(project: project, number: number)
    }
}
