import Emulation
import JSON

/// The content of all customers in an export, who are identified by their first ids.
struct BloomreachContentRecord: CodedRecord {
    /// What is exported, or what the export is laid over.
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
        list("inboxes", \.inboxes, &coder) { content, customer, inbox in
            content.setInbox(inbox, of: customer)
        }
        list("segments", \.segments, &coder) { content, customer, segments in content.segments[customer] = segments }
        list("consents", \.consents, &coder) { content, customer, consents in content.consents[customer] = consents }
        // After content was first served, its times must be the same after a restart.
        coder.note(isChanged: content.start != nil)
        coder.member("started_at", &content.start, or: .some(content.start), write: { $0?.written }) {
            (node) throws(FixtureProblem) in try node.keptMoment()
        }
    }

    private mutating func list<Part: CodedRecord>(
        _ name: String, _ parts: KeyPath<BloomreachContentState, ContentParts<Part>>, _ coder: inout RecordCoder,
        put: (inout BloomreachContentState, BloomreachCustomerKey, Part) -> Void
    ) {
        let written = coder.elements {
            content[keyPath: parts].changed(since: start?[keyPath: parts]).compactMap { key, part in
                // A customer without an id is omitted, since no request can name it.
                projects[key.project]?.customers[key.number]?.name.map {
                    BloomreachContentEntry(project: key.project, customer: $0, part: part).json(.changes)
                }
            }
        }
        coder.list(name, of: BloomreachContentEntry<Part>.self, written) { entry in
            let (project, id) = (entry.project, entry.customer)
            guard let number = projects[project]?.customers.owner(of: id) else {
                return "project \(project) has no customer whose \(id.name) is “\(id.value)”"
            }
            put(&content, BloomreachCustomerKey(project: project, number: number), entry.part)
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
        coder.member(
            "customer", &customer, or: nil,
            write: { .object(JSONObject([($0.name, .string($0.value))])) }, read: BloomreachID.init(naming:))
        part.code(&coder)
    }
}

extension BloomreachID {
    /// Reads one id of a customer, such as `{ registered: "…" }`.
    init(naming node: FixtureNode) throws(FixtureProblem) {
        let members = try node.members()
        guard let (name, value) = members.first, members.count == 1 else {
            throw node.problem("expected one id of the customer, such as { registered: \"…\" }")
        }
        self.init(name: name, value: try value.string())
    }
}
