import Emulation
import JSON
import Tokens
import Wire

/// Minting and explaining tokens.
extension ControlAPI {
    @Sendable static func listTokenKinds(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let kinds = call.emulator.vendors.flatMap { vendor in
            vendor.tokenKinds.map { kind -> JSON in
                [
                    "vendor": .string(vendor.identity.id), "kind": .string(kind.name), "about": .string(kind.about),
                    "members": .object(JSONObject(kind.members.map { ($0.name, .string($0.about)) })),
                    "defects": .array((Defect.names + kind.defects).map(JSON.string)),
                ]
            }
        }
        return .ready(.json(["kinds": .array(kinds)]))
    }

    @Sendable static func mintToken(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let vendorID = call.parameters["vendor"]
        let index = try call.vendor(vendorID)
        let vendor = call.emulator.vendors[index]
        let kind = call.parameters["kind"]
        guard vendor.tokenKinds.contains(where: { $0.name == kind }) else {
            let kinds = vendor.tokenKinds.map(\.name)
            throw ControlProblem(
                .notFound, "no-such-kind",
                "\(vendorID) has no token of kind \(kind)\(Nearest.hint(to: kind, among: kinds))")
        }
        let members = call.request.body.isEmpty ? [:] : try call.object()
        do {
            let minted = try call.sandbox.mint(
                MintRequest(kind: kind, members: members), of: index, by: call.selector)
            return .ready(.json(minted.json))
        } catch {
            throw call.invalid(error.description)
        }
    }

    /// Returns what each vendor, or the named one, would answer to a token.
    @Sendable static func explainToken(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("token", "vendor", "request").object
        guard let token = body["token"]?.string else { throw call.invalid("token must be a string") }
        let request = body["request"] ?? [:]
        guard let context = request.object else { throw call.invalid("request is \(request.text); expected an object") }
        let named = try body["vendor"].map { value throws(ControlProblem) in
            try call.vendor(value.string ?? value.text)
        }
        let indices = named.map { [$0] } ?? Array(call.emulator.vendors.indices)
        if let problem = indices.map({ call.emulator.vendors[$0] }).problem(withFacts: context) {
            throw call.invalid("request: \(problem)")
        }
        let explanations = indices.map { index in
            call.sandbox.vendor(index).explain(token, knowing: context, at: call.sandbox.now)
        }
        return .ready(.json(["verdicts": .array(explanations.map(\.json))]))
    }
}
