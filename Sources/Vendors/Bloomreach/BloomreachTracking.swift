import Emulation
import JSON
import Tokens
import Wire

/// Tracking by apps and servers: changes of customers, events, clicks.
///
/// Source: documented (SDK page; reference pages on tracking); the response is observed in the test data of the
/// clients.
extension Bloomreach {
    /// The response to every tracking call.
    private static let accepted = Reply.json(["errors": [], "success": true])

    static func trackCustomer(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        try updateCustomer(try call.body().passing("customer_ids", as: "object"), &call, &state)
        return accepted
    }

    static func trackEvent(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        try addEvent(try call.body().passing("customer_ids", as: "object"), &call, &state)
        return accepted
    }

    /// A click on a campaign link: an event of the customer, or of no customer, since Android names none (observed).
    static func trackClick(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody(isRequired: false)
        var event = try call.event(of: body.passing("event_type", "url"))
        let (type, url) = try body.passing("properties", "timestamp", "age").read {
            ($0.eventType() ?? "campaign_click", $0.text("url"))
        }
        event.type = type
        event.properties["url"] = .string(url)
        try call.checkPermission(toTrack: type)
        let owner = try call.bindWriting(ids, state)
        let project = try call.project().token
        if owner.isEmpty {
            state.change(project) { $0.add(click: event) }
        } else {
            try state.store(event, of: owner, in: project)
        }
        return accepted
    }

    /// Changes properties of the customer that the ids create, find or merge.
    static func updateCustomer(
        _ body: Fields<Bloomreach>, _ call: inout BloomreachCall, _ state: inout State
    ) throws(Refused) {
        let ids = try call.customerIDs(of: body)
        let properties = try call.event(of: body, mayHaveAge: false).properties
        if call.credentials.isStream, ids.hard.isEmpty, ids.cookie != nil, properties.isEmpty {
            throw Refused(
                .streamEmptyUpdate, because: "there is only a cookie, and no property; expected a hard id or a property"
            )
        }
        try call.checkPermission(toWrite: properties)
        let owner = try call.bindWriting(ids, state)
        try state.store(properties, of: owner, in: try call.project().token)
    }

    /// Adds an event to the customer that the ids create, find or merge.
    static func addEvent(
        _ body: Fields<Bloomreach>, _ call: inout BloomreachCall, _ state: inout State
    ) throws(Refused) {
        let ids = try call.customerIDs(of: body)
        var event = try call.event(of: body.passing("event_type"))
        guard let type = try body.passing("properties", "timestamp", "age").read({ $0.eventType() }) else {
            let found = body.object["event_type"].map { "event_type is \($0.isNull ? "null" : "empty")" }
            throw Refused(
                .missingEventType, because: "\(found ?? "there is no event_type"); expected the type of the event")
        }
        event.type = type
        try call.checkPermission(toTrack: type)
        let owner = try call.bindWriting(ids, state)
        try state.store(event, of: owner, in: try call.project().token)
        if type == ConsentEvent.type { try follow(ConsentEvent(event.properties), of: owner, &call, &state) }
    }

    private static func follow(
        _ event: ConsentEvent?, of ids: BloomreachIDs, _ call: inout BloomreachCall, _ state: inout State
    ) throws(Refused) {
        let project = try call.project()
        guard let event, let customer = state.customer(ids, of: project) else { return }
        let isKnown = call.vendor.content.consentCategories(of: project.token).contains {
            $0.id.hasSameBytes(as: event.category)
        }
        call.findings.note(event.finding(isKnown: isKnown, in: project.token, at: call.moment))
        guard isKnown else { return }
        let key = BloomreachCustomerKey(project: project.token, number: customer.number)
        state.content.setConsent(event.isGiven(at: call.moment), to: event.category, of: key)
    }
}

extension BloomreachCall {
    /// What a body tracks, as an event without its type; a time that looks like milliseconds is accepted, with a remark.
    ///
    /// An event may have an `age` in seconds instead of its time, which is documented as deprecated for streams; that it
    /// counts before `timestamp`, and in projects too, is ours.
    fileprivate mutating func event(
        of body: Fields<Bloomreach>, mayHaveAge: Bool = true
    ) throws(Refused) -> BloomreachEvent {
        let now = moment.unixSeconds
        var (event, age) = try body.read {
            let properties = $0.object("properties") ?? [:]
            let event = BloomreachEvent(timestamp: $0.timestamp(at: moment), properties: properties)
            return (event, mayHaveAge ? $0.number("age", in: 0...now)?.double : nil)
        }
        if let age {
            event.timestamp = now - age
            let note = "age is deprecated; it makes the timestamp \(event.timestamp)"
            findings.note("event-age", note: note, source: "Data hub page on adding events")
        }
        let value = JSON.number(JSONNumber(event.timestamp))
        guard let remark = NumericDate(value).millisecondsRemark(on: "timestamp") else { return event }
        findings.note(
            "milliseconds-timestamp", expected: .text("seconds"), found: .json(value), note: remark,
            source: "reference page on adding events")
        return event
    }

    /// The ids under which to store data: checked by ``bind(_:isWrite:)``, with remarks.
    fileprivate mutating func bindWriting(
        _ ids: BloomreachIDs, _ state: BloomreachState
    ) throws(Refused) -> BloomreachIDs {
        let owner = try bind(ids, isWrite: true)
        try noteIDs(owner, state)
        return owner
    }

    /// Remarks on id names that the project does not define, and on new ids that look like a known one, among the
    /// project's first hundred: in a load each new customer would be compared with all (ours).
    private mutating func noteIDs(_ ids: BloomreachIDs, _ state: BloomreachState) throws(Refused) {
        let project = try project()
        let customers = state.customers(of: project)
        for id in ids.hard {
            if !project.definesID(id.name) {
                let hint = Nearest.hint(to: id.name, among: [BloomreachID.registered] + project.idNames)
                let note = "\(project.token) defines no id \(id.name.shown)\(hint)"
                findings.note("id-name", note: note, source: "ours")
            }
            guard customers.lastNumber <= 100, customers.owner(of: id) == nil else { continue }
            let others = customers.all.lazy.compactMap { customer in
                customer.ids[id.name].flatMap { other in
                    Nearest.difference(id.value, other).map {
                        "customer \(customer.number) has \(JSON.string(other).text). \($0)"
                    }
                }
            }
            if let other = others.first {
                let note = "\(id.name.shown) \(JSON.string(id.value).text) is new, but \(other)"
                findings.note("id-value", note: note, source: "ours")
            }
        }
    }

    fileprivate func checkPermission(_ permission: BloomreachPermission) throws(Refused) {
        guard let key = credentials.publicKey, !key.permissions.contains(permission) else { return }
        let found = key.permissions.map(\.rawValue).sorted().joined(separator: ", ")
        throw Refused(
            .noPermission,
            because: "the key: found the permissions \(found); expected \(permission.rawValue) among them")
    }

    /// Checks that the public key, or the stream, may write these properties of a customer.
    fileprivate func checkPermission(toWrite properties: JSONObject) throws(Refused) {
        try checkPermission(of: .customerProperties, properties.lazy.map(\.name))
        guard let key = credentials.publicKey else { return }
        if let denied = properties.first(where: { !key.mayUse(property: $0.name) }) {
            throw Refused(
                .noPermission,
                because: "the key may not write the property \(denied.name.shown); expected any but "
                    + "\(Nearest.list(key.deniedProperties))")
        }
    }

    /// Checks that the public key, or the stream, may track events of this type.
    fileprivate func checkPermission(toTrack type: String) throws(Refused) {
        try checkPermission(of: .eventTypes, [type])
        guard let key = credentials.publicKey, !key.mayTrack(event: type) else { return }
        throw Refused(
            .noPermission,
            because: "the key may not track events of type \(type); expected any but \(Nearest.list(key.deniedEvents))")
    }
}

/// Several commands in one request. Source: reference pages on batch commands, observed in the vendor's Python client.
extension Bloomreach {
    /// The documented maximum size of a batch; larger ones are only noted, since no response to them is documented.
    private static let documentedCommands = 50
    /// The maximum size of a batch (ours).
    static let maximumCommands = 1000

    /// Runs commands in order; a failed command has its error as its result, and the others still run.
    static func runBatch(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let body: JSON
        do throws(FieldProblem) { body = try call.request.json() } catch {
            let reason = error.reason(expected: "a JSON object with commands", whenEmpty: nil)
            throw Refused(.batchInvalidJSON, because: reason)
        }
        guard let commands = body["commands"]?.array, !commands.isEmpty else {
            throw Refused(.batchNoCommands, because: whyNoCommands(body))
        }
        guard commands.count <= maximumCommands else {
            throw .invalidField("commands", because: "\(commands.count) commands; expected at most \(maximumCommands)")
        }
        if commands.count > documentedCommands {
            call.findings.note(
                "batch-size", expected: .text("up to \(documentedCommands) commands"),
                found: .text("\(commands.count) commands"), source: "reference page on batch commands")
        }
        _ = Fields<Bloomreach>(body.object ?? [:], notedBy: call.arrival).outcome(nameCommands)
        var complaints: [Complaint: JSON] = [:]
        var results: [JSON] = []
        for (index, command) in commands.enumerated() {
            results.append(run(command, index + 1, &call, &state, &complaints))
        }
        let now = JSON.seconds(call.moment.unixSeconds)
        return .json(["success": true, "start_time": now, "end_time": now, "results": .array(results)])
    }

    static func readSystemTime(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        .json(["errors": [], "success": true, "time": .seconds(call.moment.unixSeconds)])
    }

    /// Asks for what is read of commands, whatever it is.
    private static func nameCommands(_ body: inout FieldReader) {
        _ = body.objects("commands") { command in
            command.accept(["name"], as: "string")
            return command.nested("data") { data in
                data.accept(["customer_ids", "properties"], as: "object")
                data.accept(["event_type", "timestamp", "age"])
            }
        }
    }

    private static func whyNoCommands(_ body: JSON) -> String {
        guard let object = body.object else {
            return "the body is a JSON \(body.typeName), not an object with commands"
        }
        guard let commands = object["commands"] else { return "there are no commands; expected an array of them" }
        return commands.array == nil
            ? "commands is a JSON \(commands.typeName), not an array"
            : "commands is empty; expected at least one command"
    }

    /// The key of an error response; a batch may repeat the same error a thousand times.
    private struct Complaint: Hashable {
        let failure: BloomreachFailure
        let parameters: JSONObject
        let route: String
    }

    private static func run(
        _ command: JSON, _ number: Int, _ call: inout BloomreachCall, _ state: inout State,
        _ complaints: inout [Complaint: JSON]
    ) -> JSON {
        let name = command["name"]?.string ?? ""
        do throws(Refused) {
            switch name {
            case "customers":
                try call.part(number, named: name) { (call) throws(Refused) in
                    try call.checkPermission(.customers)
                    try updateCustomer(try data(of: command), &call, &state)
                }
            case "customers/events":
                try call.part(number, named: name) { (call) throws(Refused) in
                    try call.checkPermission(.events)
                    try addEvent(try data(of: command), &call, &state)
                }
            case "system/time": return ["success": true, "time": .seconds(call.moment.unixSeconds)]
            default:
                call.refuse(unknownCommand(command, number))
                return ["success": false, "errors": ["Unknown command."]]
            }
            return ["success": true]
        } catch {
            let complaint = Complaint(
                failure: error.failure, parameters: error.parameters,
                route: name == "customers" ? "track.customers" : "track.events")
            if let known = complaints[complaint] { return known }
            let text = text(of: complaint, call)
            complaints[complaint] = text
            return text
        }
    }

    private static func unknownCommand(_ command: JSON, _ number: Int) -> ExchangePart {
        let name = command["name"]
        let shown = name?.string.map { "“\($0.prefix(100))”" } ?? name.map { "a name that is \($0.typeName)" }
        let known = "customers, customers/events or system/time"
        return ExchangePart(
            number, named: name?.string.map { String($0.prefix(100)) } ?? "", "unknown-command",
            because: "found \(shown ?? "no name"); expected one of \(known)", [])
    }

    /// The body that the equivalent call would have, with the same size limit (ours).
    private static func data(of command: JSON) throws(Refused) -> Fields<Bloomreach> {
        let data = try Fields<Bloomreach>(command.object ?? [:]).read { $0.object("data") ?? [:] }
        let length = JSON.object(data).bytes.count
        try Refused.require(
            length <= bodyLimit, .bodyTooLarge, "a command has \(length) bytes; expected at most \(bodyLimit)")
        return Fields(data)
    }

    /// The error response of the equivalent call, as the command's result.
    private static func text(of complaint: Complaint, _ call: BloomreachCall) -> JSON {
        let response = call.vendor.failures.response(
            complaint.failure, complaint.parameters, route: complaint.route, switches: call.switches.values)
        let answer = try? JSON.parse(response.body)
        let errors = answer?["errors"] ?? .array([answer?["error"] ?? .string(complaint.failure.rawValue)])
        return ["success": false, "errors": errors]
    }
}

/// The self-check of an app's push setup. Source: documented (SDK page), members observed in both SDKs.
extension Bloomreach {
    /// Accepts the request for a push notification but never sends one: there is no push service.
    static func sendSelfCheck(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, (push, platform, application)) = try call.ofCustomer { body in
            let (push, platform) = (body.text("push_notification_id"), body.text("platform"))
            if !["ios", "android", "huawei"].contains(platform) {
                body.refuse("platform", "platform is \(platform.shown); expected ios, android or huawei")
            }
            return (push, platform, body.optionalText("application_id"))
        }
        let check: JSON = [
            "customer_ids": owner.json, "push_notification_id": .string(push), "platform": .string(platform),
            "application_id": JSON(application), "timestamp": .seconds(call.moment.unixSeconds),
        ]
        let project = try call.project().token
        state.change(project) { $0.add(selfCheck: check) }
        return .json(["success": true])
    }

    // MARK: - Linking hard ids to a cookie. Source: observed, both SDKs

    /// Links hard ids to the customer of the path's cookie, as a write with all of them would.
    static func linkIDs(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let value = try call.body {
            $0.value("external_ids", isRequired: true, expecting: "an object of ids") { $0 } ?? .null
        }
        var ids = try call.ids(value, of: "external_ids")
        // A cookie in the body is ignored: the path names it.
        ids.cookie = nil
        guard !ids.isEmpty else {
            throw .invalidField("external_ids", because: "external_ids holds no hard id; expected at least one")
        }
        ids.cookie = call.parameters["cookie"]
        // The token's ids are compared with the external ids (ours): nothing else names the customer.
        ids = try call.bindWriting(ids, state)
        let project = try call.project()
        state.settle(try state.customers(of: project).placement(of: ids), in: project.token)
        return .json(["success": true])
    }
}
