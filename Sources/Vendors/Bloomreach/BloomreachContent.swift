import Emulation
import JSON

/// Content from the fixtures, by project; only inboxes, segments and consents can change later.
struct BloomreachContent: Sendable {
    struct Project: Sendable {
        var inAppMessages: [InAppMessage] = []
        var blocks: [ContentBlock] = []
        var recommendations = RecommendationCatalog()
        var computed: [ComputedAttribute] = []
    }

    private let projects: Deferred<[String: Project]>
    private var categories: [String: [ConsentCategory]] = [:]
    /// The state every sandbox starts with.
    private(set) var initialState = BloomreachContentState()

    /// The content of a project; empty if the fixtures omit the project.
    subscript(project: String) -> Project {
        // Read before, at the start or by a test.
        (try? projects.get())?[project] ?? Project()
    }

    func consentCategories(of project: String) -> [ConsentCategory] { categories[project] ?? [] }

    // MARK: - content/*.yaml

    /// Reads the files in the folder `content`, one per kind.
    init(_ fixtures: VendorFixtures, _ accounts: BloomreachAccounts) throws(FixtureProblem) {
        func file(_ name: String) throws(FixtureProblem) -> FixtureStore.File {
            try fixtures.file("content/\(name).yaml")
        }
        let (messages, blocks) = (try file("in-app-messages"), try file("content-blocks"))
        let (recommendations, attributes) = (try file("recommendations"), try file("computed-attributes"))
        let all = [messages, blocks, recommendations, attributes, accounts.file]
        projects = try Deferred(all.first { !$0.isJudged } ?? messages) { () throws(FixtureProblem) in
            var projects: [String: Project] = [:]
            try accounts.readContent(messages) { (project, node) throws(FixtureProblem) in
                projects[project, default: Project()].inAppMessages = try Self.list(node, InAppMessage.init, id: \.id)
            }
            try accounts.readContent(blocks) { (project, node) throws(FixtureProblem) in
                projects[project, default: Project()].blocks = try Self.list(node, ContentBlock.init, id: \.id)
            }
            try accounts.readContent(recommendations) { (project, node) throws(FixtureProblem) in
                projects[project, default: Project()].recommendations = try RecommendationCatalog(node)
            }
            try accounts.readContent(attributes) { (project, node) throws(FixtureProblem) in
                projects[project, default: Project()].computed = try Self.list(
                    node, { (node) throws(FixtureProblem) in try ComputedAttribute(node, of: project, accounts) },
                    id: { "\($0.kind.rawValue) \($0.id)" })
            }
            return projects
        }
        try accounts.readContent(try file("consents")) { (project, node) throws(FixtureProblem) in
            try readConsents(project, node, accounts)
        }
        try accounts.readContent(try file("segments")) { (project, node) throws(FixtureProblem) in
            for (customer, entry) in try accounts.entries(node, of: project, "segments") {
                initialState[customer].segments = try CustomerSegments(try entry.required("segments"))
            }
        }
        try accounts.readContent(try file("app-inbox")) { (project, node) throws(FixtureProblem) in
            for (customer, entry) in try accounts.entries(node, of: project, "messages") {
                initialState[customer].inbox = try Inbox(try entry.required("messages"), fixtures)
            }
        }
    }

    private mutating func readConsents(
        _ project: String, _ node: FixtureNode, _ accounts: BloomreachAccounts
    ) throws(FixtureProblem) {
        let entry = try node.mapping("categories", "customers")
        let categories = try Self.list(try entry.required("categories"), ConsentCategory.init, id: \.id)
        self.categories[project] = categories
        guard let customers = entry["customers"] else { return }
        for (customer, entry) in try accounts.entries(customers, of: project, "consents") {
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

/// Content refers to the projects and customers in `accounts.yaml`.
extension BloomreachAccounts {
    /// Reads a file of content, which has a member for every project it covers.
    fileprivate func readContent(
        _ file: FixtureStore.File, _ body: (String, FixtureNode) throws(FixtureProblem) -> Void
    ) throws(FixtureProblem) {
        let document = try FixtureNode(file: file).mapping("projects")
        for (project, node) in try document.required("projects").members() {
            guard projects.contains(where: { $0.token == project }) else {
                let hint = Nearest.hint(to: project, among: projects.map(\.token))
                throw node.nameProblem("accounts.yaml has no project \(project)\(hint)")
            }
            try body(project, node)
        }
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

/// The content state of one sandbox: inboxes, segments and consents of customers.
struct BloomreachContentState: Sendable {
    private(set) var customers: [BloomreachCustomerKey: CustomerContent] = [:]
    /// The size of all inboxes; segments and consents are small, and do not count.
    private(set) var byteCount = 0
    /// When content was first served, the origin of its relative times; `nil` before that.
    var start: Moment?

    /// What a customer has; a missing entry is the same as an empty one.
    subscript(customer: BloomreachCustomerKey) -> CustomerContent {
        get { customers[customer] ?? CustomerContent() }
        set {
            byteCount += newValue.inbox.byteCount - (customers[customer]?.inbox.byteCount ?? 0)
            customers[customer] = newValue
        }
    }

    /// The origin of relative times in content: `moment`, if content was never served before.
    mutating func begin(at moment: Moment) -> Moment {
        let begun = start ?? moment
        start = begun
        return begun
    }

    func consent(to category: String, of customer: BloomreachCustomerKey) -> Bool {
        // By bytes: a dictionary also finds names in another Unicode normalization.
        self[customer].consents.categories.first { $0.key.hasSameBytes(as: category) }?.value ?? false
    }

    mutating func setConsent(_ value: Bool, to category: String, of customer: BloomreachCustomerKey) {
        customers[customer, default: CustomerContent()].consents.categories[category] = value
    }

    // MARK: - Changes of customers

    /// Moves an anonymous customer's content to another customer and forgets the first; the target's own content wins.
    ///
    /// An anonymous customer has no inbox to move.
    mutating func merge(from source: BloomreachCustomerKey, into target: BloomreachCustomerKey) {
        guard let gone = customers[source] else { return }
        var merged = self[target]
        merged.ownSegments = merged.ownSegments ?? gone.ownSegments
        merged.consents.categories.merge(gone.consents.categories) { own, _ in own }
        self[target] = merged
        forget(source)
    }

    /// Empties the inbox of a customer who becomes anonymous, and forgets its consents and segments.
    mutating func anonymize(_ customer: BloomreachCustomerKey) {
        var content = CustomerContent(inbox: self[customer].inbox)
        content.inbox.clear()
        self[customer] = content
    }

    mutating func forget(_ customer: BloomreachCustomerKey) {
        byteCount -= customers.removeValue(forKey: customer)?.inbox.byteCount ?? 0
    }

    /// The state with customers renumbered; customers without a new number lose their content.
    func renumbered(_ number: (BloomreachCustomerKey) -> BloomreachCustomerKey?) -> BloomreachContentState {
        var state = BloomreachContentState()
        state.start = start
        for (customer, content) in customers { if let customer = number(customer) { state[customer] = content } }
        return state
    }

    /// The state after the fixtures were replaced: whatever no request or action changed takes the new values.
    ///
    /// - Parameters:
    /// - new: the new content of the fixtures, with this sandbox's customer numbers.
    /// - old: the previous content of the fixtures, with this sandbox's customer numbers.
    func following(_ new: BloomreachContentState, insteadOf old: BloomreachContentState) -> BloomreachContentState {
        var state = new
        state.start = start
        for customer in Set(customers.keys).union(old.customers.keys).union(new.customers.keys) {
            let (own, before) = (self[customer], old[customer])
            state[customer].inbox = own.inbox.following(new[customer].inbox, insteadOf: before.inbox)
            if own.segments != before.segments { state[customer].segments = own.segments }
            if own.consents != before.consents { state[customer].consents = own.consents }
        }
        return state
    }

    /// The customers whose content of one kind differs from that in another state, in order.
    func customers<Part: Equatable>(
        with part: KeyPath<CustomerContent, Part>, changedSince start: BloomreachContentState?
    ) -> [BloomreachCustomerKey] {
        Set(customers.keys).union((start?.customers ?? [:]).keys)
            .filter { self[$0][keyPath: part] != (start?[$0] ?? CustomerContent())[keyPath: part] }
            .sorted { ($0.project, $0.number) < ($1.project, $1.number) }
    }
}

/// A customer's content that can change.
struct CustomerContent: Sendable {
    var inbox = Inbox()
    /// `nil` as long as nobody has set any.
    var ownSegments: CustomerSegments?
    var consents = CustomerConsents()

    var segments: CustomerSegments {
        get { ownSegments ?? CustomerSegments() }
        set { ownSegments = newValue }
    }
}

/// The content of all customers in an export, who are identified by their first ids.
struct BloomreachContentRecord: CodedRecord {
    /// What is exported, or what the export overlays.
    private(set) var content = BloomreachContentState()
    /// The content of the fixtures, to export only changes; `nil` to export everything.
    private var start: BloomreachContentState?
    /// The projects of the sandbox with their customers, by token.
    private var projects: [String: BloomreachRecords] = [:]

    init() {}

    init(_ content: BloomreachContentState, since start: BloomreachContentState? = nil, of state: BloomreachState) {
        (self.content, self.start, projects) = (content, start, state.projects)
    }

    mutating func code(_ coder: inout RecordCoder) {
        list("inboxes", \.inbox, &coder)
        list("segments", \.segments, &coder)
        list("consents", \.consents, &coder)
        // After content was first served, its times must be the same after a restart.
        coder.note(isChanged: content.start != nil)
        coder.member("started_at", &content.start, or: .some(content.start), write: { $0?.written }) {
            (node) throws(FixtureProblem) in try node.keptMoment()
        }
    }

    private mutating func list<Part: CodedRecord & Equatable>(
        _ name: String, _ part: WritableKeyPath<CustomerContent, Part>, _ coder: inout RecordCoder
    ) {
        let written = coder.elements {
            content.customers(with: part, changedSince: start).compactMap { key in
                // A customer without an id is omitted, since no request can name it.
                projects[key.project]?.customers[key.number]?.name.map {
                    BloomreachContentEntry(project: key.project, customer: $0, part: content[key][keyPath: part])
                        .json(.changes)
                }
            }
        }
        coder.list(name, of: BloomreachContentEntry<Part>.self, written) { entry in
            let (project, id) = (entry.project, entry.customer)
            guard let number = projects[project]?.customers.owner(of: id) else {
                return "project \(project) has no customer whose \(id.name) is “\(id.value)”"
            }
            content[BloomreachCustomerKey(project: project, number: number)][keyPath: part] = entry.part
            return nil
        }
    }
}

/// One part of a customer's content in an export.
private struct BloomreachContentEntry<Part: CodedRecord>: CodedRecord {
    var project = ""
    var customer = BloomreachID(name: "", value: "")
    var part = Part()

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("project", &project)
        coder.member("customer", &customer, or: nil, write: { $0.json }, read: BloomreachID.init(naming:))
        part.code(&coder)
    }
}
