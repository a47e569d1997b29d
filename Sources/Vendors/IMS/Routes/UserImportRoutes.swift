import Emulation
import HTTPTypes
import JSON
import Tokens

/// Enrollment by file. Source: file import is documented (site); the format is ours.
extension IMS {
    private static let columns = [
        "enterprise_id", "email", "activation_id", "first_name", "last_name", "activate",
    ]

    /// ours: the maximum number of rows per file, including the header: other requests wait during an import.
    static let mostRows = 10_000
    /// ours: the maximum number of errors that an answer lists.
    static let mostErrors = 1000

    /// ours: the maximum number of lines that the journal explains.
    private static let mostTold = 100

    /// Enrolls the users of a CSV file; good lines are kept, whatever happens to the others.
    static func importUsers(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        guard let value = call.request.queryValue("tenant") else {
            throw Self.refusal("tenant", "was not sent; expected users/import?tenant=NAME", inQuery: true)
        }
        let tenant = try IMSBody(["tenant": .string(value)]).read { $0.name("tenant") }
        noteContentType(&call)
        let lines: [CSV.Line]
        do throws(CSV.Fault) {
            lines = try CSV.lines(call.request.body, atMost: mostRows)
        } catch {
            if case .tooManyRows = error {
                throw Refusal(.bodyTooLarge, because: "\(error); at most \(mostRows) are read")
            }
            throw Refusal(.bodyMalformed, because: "\(error); expected CSV (RFC 4180)")
        }
        let head = try Refused.require(lines.first, .bodyMalformed, "the content has no row; expected a header row")
        try check(head.fields)
        var (enrolled, activated, unlisted, errors): (Int, Int, Int, [JSON]) = (0, 0, 0, [])
        for line in lines.dropFirst() {
            do throws(Refused) {
                let user = try enroll(try enrollment(line.fields, head.fields, tenant), call, &state)
                enrolled += 1
                if user.state == .active { activated += 1 }
            } catch {
                tell(error, of: line, errors.count, &call)
                guard errors.count < mostErrors else {
                    unlisted += 1
                    continue
                }
                errors.append(["line": JSON(line.number), "code": .string(error.failure.rawValue)])
            }
        }
        if errors.count + unlisted > mostTold {
            call.findings.note(
                Finding("import-lines", .noted, note: "\(errors.count + unlisted - mostTold) more lines are refused."))
        }
        if unlisted > 0 {
            call.findings.note(
                Finding("import-errors", .noted, note: "\(unlisted) more lines are wrong than the answer lists."))
        }
        return .json(["enrolled": JSON(enrolled), "activated": JSON(activated), "errors": .array(errors)])
    }

    /// Notes in the journal which member of which line is wrong, and why.
    private static func tell(_ refusal: Refused, of line: CSV.Line, _ told: Int, _ call: inout IMSCall) {
        guard told < mostTold else { return }
        call.findings.note(
            Finding(
                "import-line", .noted, found: .text("line \(line.number): \(refusal.failure.rawValue)"),
                note: "Line \(line.number): \(refusal.reason ?? refusal.failure.rawValue)."))
    }

    /// The content decides whether it is CSV; a client that declares another type gets a note (ours).
    private static func noteContentType(_ call: inout IMSCall) {
        let type = call.request.fields[.contentType]
        guard type?.lowercased().hasPrefix("text/csv") != true else { return }
        call.findings.note(
            Finding("content-type", .noted, expected: .text("text/csv"), found: type.map(Fact.text) ?? .absent))
    }

    private static func check(_ head: [String]) throws(Refused) {
        // With more names than columns, one must be unknown or duplicated.
        try IMSBody(JSONObject(head.prefix(columns.count + 1).map { ($0, JSON.null) })).read { row in
            row.refuseUnknown(columns)
            if let name = row.object.duplicateNames.first { row.refuse(name, "is there twice; expected once") }
            if !head.contains("email") { row.refuse("email", "is not a column; expected one") }
        }
    }

    /// The enrollment of a row; empty fields count as absent.
    private static func enrollment(
        _ fields: [String], _ head: [String], _ tenant: String
    ) throws(Refused) -> IMSEnrollment {
        guard fields.count == head.count else {
            throw Refusal(.bodyInvalid, because: "\(fields.count) fields; expected \(head.count), as in the header row")
        }
        var object = JSONObject()
        // An empty column is a different mistake than a missing one.
        if let index = head.firstIndex(of: "email"), fields[index].isEmpty {
            throw Self.refusal("email", "is empty; expected an address with @")
        }
        for (name, field) in zip(head, fields) where !field.isEmpty {
            object.append(name, name == "activate" ? Self.bool(field) : .string(field))
        }
        return try IMSBody(object).read { IMSEnrollment(&$0, tenant: tenant) }
    }

    private static func bool(_ field: String) -> JSON {
        switch field {
        case "true": true
        case "false": false
        default: .string(field)
        }
    }
}
