import Emulation
import HTTPTypes
import JSON
import Tokens

/// Enrollment and the user lifecycle. Source: the states are documented (site); the calls are ours.
extension IMS {
    static func enrollUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let draft = try call.body { body in
            body.refuseUnknown(
                ["tenant", "email", "enterprise_id", "activation_id", "first_name", "last_name", "activate"])
            let tenant = body.name("tenant")
            return IMSUser(&body, of: tenant)
        }
        let user = try enroll(draft, call, &state)
        return .json(user.operatorJSON, status: .created)
    }

    /// - Throws: ``IMSFailure/stateConflict`` or ``IMSFailure/enrollmentExists``.
    static func enroll(_ user: IMSUser, _ call: IMSCall, _ state: inout State) throws(Refused) -> IMSUser {
        try check(user, state)
        return state.users.enroll(user, call.identifiers, at: call.moment)
    }

    /// Checks a user to be enrolled: it can be active, and its unique values are free in its tenant.
    static func check(_ user: IMSUser, _ state: State) throws(Refused) {
        if user.state == .active, user.enterpriseID == nil {
            throw Refused(
                .stateConflict,
                because: "activate needs an enterprise_id, and there is none; expected one, or no activate: then the "
                    + "activation links it")
        }
        guard let (field, other) = state.users.conflict(with: user) else { return }
        throw Refused(
            .enrollmentExists, ["field": .string(field)],
            because: "\(other.id) of tenant \(user.tenant) has the same \(field), "
                + "\(other.operatorJSON[field]?.string ?? ""); expected another one")
    }

    static func listUsers(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let (tenant, wanted) = try call.query.read {
            ($0.optionalText("tenant"), $0.choice("state", of: IMSUser.State.self))
        }
        let users = state.users.all.filter {
            (tenant == nil || $0.tenant == tenant) && (wanted == nil || $0.state == wanted)
        }
        return .json(["users": .array(users.map(\.operatorJSON))])
    }

    static func readUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try user(call, state).operatorJSON)
    }

    static func activateUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try user(call, state)
        try Refused.require(
            user.state != .active, .stateConflict,
            "\(user.id) is already active; expected a user who is not: deactivate it first to activate it again")
        try Refused.require(
            user.enterpriseID != nil, .stateConflict,
            "\(user.id) is \(user.state.rawValue) without an enterprise_id; expected one to be active with: the app links "
                + "one with POST /ims/v1/activation, or enroll the user again with one")
        user.activate(at: call.moment)
        return answer(user, &state)
    }

    static func deactivateUser(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try user(call, state)
        try Refused.require(
            user.state != .deactivated, .stateConflict,
            "\(user.id) is already deactivated; expected a user who is not: activate it first to deactivate it again")
        user.deactivate(at: call.moment)
        return answer(user, &state)
    }

    /// Gives an enrolled user a new code; the old one stops working.
    static func renewCode(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var user = try user(call, state)
        try Refused.require(
            user.state == .enrolled, .stateConflict,
            "\(user.id) is \(user.state.rawValue), and only a user who is enrolled needs a code; expected such a user"
                + (user.state == .deactivated ? "; POST /ims/v1/users/\(user.id)/activate makes it active" : ""))
        user.activation = IMSUser.Activation(call.identifiers, at: call.moment)
        return answer(user, &state)
    }

    private static func answer(_ changed: IMSUser, _ state: inout State) -> Reply {
        state.users.store(changed)
        return .json(changed.operatorJSON)
    }

    private static func user(_ call: IMSCall, _ state: State) throws(Refused) -> IMSUser {
        let name = call.parameters["id"]
        return try Refused.require(
            state.user(name, of: call.arrival.queryValue("tenant")), .userNotFound,
            "no user has the id or the enterprise id \(name); expected that of an imported user")
    }
}

extension IMSUser {
    /// Reads a user to be enrolled, who has no number yet.
    init(_ body: inout FieldReader, of tenant: String) {
        self.init()
        self.tenant = tenant
        email = body.email("email") ?? ""
        if email.isEmpty {
            if body["email"] == nil { body.report("email", .missing) }
            body.refuse("email", "is an empty text; expected an address with @")
        }
        enterpriseID = body.optionalText("enterprise_id", atLeast: 1)
        activationID = body.optionalText("activation_id", atLeast: 1) ?? email
        firstName = body.optionalText("first_name") ?? ""
        lastName = body.optionalText("last_name") ?? ""
        if body.bool("activate") == true { state = .active }
    }
}

/// Enrollment by file. Source: file import is documented (site); the format is ours.
extension IMS {
    private static let columns = ["enterprise_id", "email", "activation_id", "first_name", "last_name", "activate"]

    /// ours: the maximum number of rows per file, including the header: other requests wait during an import.
    static let mostRows = 10_000
    /// ours: the maximum number of errors that an answer lists.
    static let mostErrors = 1000

    /// ours: the maximum number of lines that the journal explains.
    private static let mostNoted = 100

    /// Enrolls the users of a CSV file; good lines are kept, whatever happens to the others.
    static func importUsers(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        guard let value = call.arrival.queryValue("tenant") else {
            throw Self.refusal("tenant", "was not sent; expected users/import?tenant=NAME", inQuery: true)
        }
        let tenant = try IMSBody(["tenant": .string(value)]).read { $0.name("tenant") }
        noteContentType(&call)
        let lines: [CSV.Line]
        do throws(CSV.Fault) {
            lines = try CSV.lines(call.request.body, atMost: mostRows)
        } catch {
            if case .tooManyRows = error {
                throw Refused(.bodyTooLarge, because: "\(error); at most \(mostRows) are read")
            }
            throw Refused(.bodyMalformed, because: "\(error); expected CSV (RFC 4180)")
        }
        let head = try Refused.require(lines.first, .bodyMalformed, "the content has no row; expected a header row")
        try check(head.fields)
        var (enrolled, activated, unlisted, errors): (Int, Int, Int, [JSON]) = (0, 0, 0, [])
        for line in lines.dropFirst() {
            do throws(Refused) {
                let user = try enroll(try user(line.fields, head.fields, tenant), call, &state)
                enrolled += 1
                if user.state == .active { activated += 1 }
            } catch {
                note(error, of: line, errors.count, &call)
                guard errors.count < mostErrors else {
                    unlisted += 1
                    continue
                }
                errors.append(["line": JSON(line.number), "code": .string(error.failure.rawValue)])
            }
        }
        if errors.count + unlisted > mostNoted {
            call.findings.note("import-lines", note: "\(errors.count + unlisted - mostNoted) more lines are refused.")
        }
        if unlisted > 0 {
            call.findings.note("import-errors", note: "\(unlisted) more lines are wrong than the answer lists.")
        }
        return .json(["enrolled": JSON(enrolled), "activated": JSON(activated), "errors": .array(errors)])
    }

    /// Notes in the journal which member of which line is wrong, and why.
    private static func note(_ refusal: Refused, of line: CSV.Line, _ noted: Int, _ call: inout IMSCall) {
        guard noted < mostNoted else { return }
        call.findings.note(
            "import-line", found: .text("line \(line.number): \(refusal.failure.rawValue)"),
            note: "Line \(line.number): \(refusal).")
    }

    /// The content decides whether it is CSV; a client that declares another type gets a note (ours).
    private static func noteContentType(_ call: inout IMSCall) {
        let type = call.request.fields[.contentType]
        guard type?.lowercased().hasPrefix("text/csv") != true else { return }
        call.findings.note("content-type", expected: .text("text/csv"), found: type.map(Fact.text) ?? .absent)
    }

    private static func check(_ head: [String]) throws(Refused) {
        // With more names than columns, one must be unknown or duplicated.
        try IMSBody(JSONObject(head.prefix(columns.count + 1).map { ($0, JSON.null) })).read { row in
            row.refuseUnknown(columns)
            if let name = row.whole.duplicateNames.first { row.refuse(name, "occurs twice; expected once") }
            if !head.contains("email") { row.refuse("email", "is not a column; expected one") }
        }
    }

    /// The user of a row; empty fields count as absent.
    private static func user(_ fields: [String], _ head: [String], _ tenant: String) throws(Refused) -> IMSUser {
        try Refused.require(
            fields.count == head.count, .bodyInvalid,
            "\(fields.count) fields; expected \(head.count), as in the header row")
        var object = JSONObject()
        // An empty column is a different mistake than a missing one.
        if let index = head.firstIndex(of: "email"), fields[index].isEmpty {
            throw Self.refusal("email", "is empty; expected an address with @")
        }
        for (name, field) in zip(head, fields) where !field.isEmpty {
            object.append(name, name == "activate" ? Self.bool(field) : .string(field))
        }
        return try IMSBody(object).read { IMSUser(&$0, of: tenant) }
    }

    private static func bool(_ field: String) -> JSON {
        switch field {
        case "true": true
        case "false": false
        default: .string(field)
        }
    }
}

/// Comma-separated values as defined by RFC 4180; a line may also end with LF alone.
enum CSV {
    /// A row and the number of the line at which it begins, counted from 1.
    struct Line: Sendable, Hashable {
        let number: Int
        let fields: [String]
    }

    enum Fault: Error, Hashable, CustomStringConvertible {
        case notUTF8
        case openQuote(line: Int)
        case strayQuote(line: Int)
        case tooManyRows(Int)

        var description: String {
            switch self {
            case .notUTF8: "the content is not UTF-8"
            case .openQuote(let line): "line \(line): a quoted field does not end"
            case .strayQuote(let line): "line \(line): a stray quote is inside a field"
            case .tooManyRows(let most): "there are more than \(most) rows"
            }
        }
    }

    /// The rows of a text; empty lines are skipped, but counted.
    static func lines(_ bytes: [UInt8], atMost most: Int = .max) throws(Fault) -> [Line] {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        var reader = Reader(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...])
        var lines: [Line] = []
        var count = 0
        while let line = try reader.line() {
            count += 1
            guard count <= most else { throw .tooManyRows(most) }
            if line.fields != [""] { lines.append(line) }
        }
        return lines
    }

    private struct Reader {
        private var rest: ArraySlice<UInt8>
        private var number = 1

        init(_ text: ArraySlice<UInt8>) { rest = text }

        /// The next row; `nil` at the end.
        mutating func line() throws(Fault) -> Line? {
            guard !rest.isEmpty else { return nil }
            let start = number
            var fields = [try field()]
            while rest.first == UInt8(ascii: ",") {
                rest.removeFirst()
                fields.append(try field())
            }
            if rest.first == UInt8(ascii: "\r") { rest.removeFirst() }
            if rest.first == UInt8(ascii: "\n") { rest.removeFirst() }
            number += 1
            return Line(number: start, fields: fields)
        }

        private mutating func field() throws(Fault) -> String {
            if rest.first == UInt8(ascii: "\"") { return try quotedField() }
            let text = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            if text.contains(UInt8(ascii: "\"")) { throw .strayQuote(line: number) }
            rest = rest.dropFirst(text.count)
            return String(decoding: text, as: UTF8.self)
        }

        private mutating func quotedField() throws(Fault) -> String {
            let start = number
            rest.removeFirst()
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\n") { number += 1 }
                guard byte == UInt8(ascii: "\"") else {
                    bytes.append(byte)
                    continue
                }
                if rest.first == UInt8(ascii: "\"") {
                    rest.removeFirst()
                    bytes.append(byte)
                } else if rest.first.map({ ",\r\n".utf8.contains($0) }) ?? true {
                    return String(decoding: bytes, as: UTF8.self)
                } else {
                    throw .strayQuote(line: number)
                }
            }
            throw .openQuote(line: start)
        }
    }
}
