import Emulation
import JSON
import Wire

/// What is emulated, and where each part is known from.
extension ControlAPI {
    @Sendable static func listVendors(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let vendors = call.emulator.vendors.map { vendor -> JSON in
            [
                "id": .string(vendor.identity.id), "title": .string(vendor.identity.title),
                "routes": .array(vendor.routes.flatMap(json)), "failures": .array(vendor.failures.map(json)),
                "switches": .array(vendor.switchDeclarations.map(json)),
                "request_facts": .array(
                    vendor.requestFacts.map { ["name": .string($0.name), "about": .string($0.about)] }),
                "samples": .array(vendor.samples.map { ["label": .string($0.label), "value": .string($0.value)] }),
            ]
        }
        return .ready(.json(["vendors": .array(vendors), "port": call.vendorPort.map { JSON($0) } ?? .null]))
    }

    private static func json(_ route: RouteListing) -> [JSON] {
        route.endpoints.map { endpoint in
            [
                "route": .string(route.id), "method": .string(endpoint.method.rawValue),
                "path": .string(endpoint.pattern), "evidence": .string(route.evidence(of: endpoint).rawValue),
                "source": .string(route.source),
            ]
        }
    }

    private static func json(_ failure: FailureListing) -> JSON {
        [
            "failure": .string(failure.name), "status": JSON(failure.status), "about": .string(failure.about),
            "evidence": .string(failure.evidence.rawValue), "source": .string(failure.source),
            "lookalikes": .array(failure.lookalikes.map(JSON.string)),
        ]
    }

    private static func json(_ declaration: SwitchDeclaration) -> JSON {
        var choices: JSON = .null
        if case .choice(let words) = declaration.domain { choices = .array(words.map(JSON.string)) }
        return [
            "name": .string(declaration.name), "about": .string(declaration.about),
            "documented": .string(declaration.documented), "observed": .string(declaration.observed),
            "values": .string(declaration.allowedValues), "choices": choices, "source": .string(declaration.source),
        ]
    }

    @Sendable static func readSample(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let vendor = call.emulator.vendors[try call.vendor(call.parameters["vendor"])]
        let moment = call.existingSandbox?.now ?? call.emulator.machine()
        let base = call.emulator.sandboxes.publicBase.address(of: call.sandboxName, by: call.selector)
        // Custom fixtures may leave a vendor without a signing key; then there is no sample.
        guard let sample = try? vendor.sampleRequest(at: moment, base: base) else {
            return .ready(.json(["sample": .null]))
        }
        let headers = sample.fields.map { JSON.array([.string($0.name), .string($0.value)]) }
        return .ready(
            .json([
                "sample": [
                    "method": .string(sample.endpoint.method.rawValue), "path": .string(sample.endpoint.pattern),
                    "headers": .array(headers), "body": .string(sample.body),
                ]
            ]))
    }
}
