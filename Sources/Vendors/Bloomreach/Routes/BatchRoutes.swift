import Emulation
import JSON
import Tokens
import Wire

/// Several commands in one request. Source: reference pages on batch commands, observed in the vendor's Python client.
extension Bloomreach {
    /// The documented maximum size of a batch; larger ones are only noted, since no response to them is documented.
    private static let documentedCommands = 50
    /// The maximum size of a batch (ours).
    static let maximumCommands = 1000

    /// Runs commands in order; a failed command has its error as its result, and the others still run.
    static func runBatch(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let body: JSON
        do throws(FieldProblem) {
            body = try call.request.json()
        } catch {
            let reason = error.reason(expected: "a JSON object with commands", whenEmpty: nil)
            throw Refusal(.batchInvalidJSON, because: reason)
        }
        guard let commands = body["commands"]?.array, !commands.isEmpty else {
            throw Refusal(.batchNoCommands, because: whyNoCommands(body))
        }
        guard commands.count <= maximumCommands else {
            throw .invalidField("commands", because: "\(commands.count) commands; expected at most \(maximumCommands)")
        }
        if commands.count > documentedCommands {
            call.findings.note(
                Finding(
                    "batch-size", .noted, expected: .text("up to \(documentedCommands) commands"),
                    found: .text("\(commands.count) commands"), source: "reference page on batch commands"))
        }
        var complaints: [Complaint: JSON] = [:]
        var results: [JSON] = []
        for (index, command) in commands.enumerated() {
            results.append(run(command, index + 1, &call, &state, &complaints))
        }
        let now = JSON.seconds(call.moment.unixSeconds)
        return .json(["success": true, "start_time": now, "end_time": now, "results": .array(results)])
    }

    /// The current time of the sandbox's clock.
    static func readSystemTime(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        .json(["errors": [], "success": true, "time": .seconds(call.moment.unixSeconds)])
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

extension Call<Bloomreach> {
    /// Checks that the key may run a command of a batch.
    fileprivate func checkPermission(_ permission: BloomreachPermission) throws(BloomreachRefusal) {
        if let key = credentials.publicKey, !key.permissions.contains(permission) {
            throw Refusal(
                .noPermission,
                because:
                    "the key: found the permissions \(key.permissions.map(\.rawValue).sorted().joined(separator: ", ")); expected \(permission.rawValue) among them"
            )
        }
    }
}
