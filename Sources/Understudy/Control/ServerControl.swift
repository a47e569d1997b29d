import Emulation
import HTTPTypes
import JSON
import Wire

/// What is emulated, and where each part is known from.
extension ControlAPI {
    static func listVendors(_ call: ControlCall) -> Answer {
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
        return .json(["vendors": .array(vendors), "port": call.vendorPort.map { JSON($0) } ?? .null])
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

    static func readSample(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let vendor = call.emulator.vendors[try call.vendor(call.parameters["vendor"])]
        let base = call.sandbox.identity.publicBase.address(of: call.sandboxName, by: call.selector)
        // Custom fixtures may leave a vendor without a signing key; then there is no sample.
        guard let sample = try? vendor.sampleRequest(at: call.sandbox.now, base: base) else {
            return .json(["sample": .null, "refused": .null])
        }
        return .json(["sample": json(sample, call), "refused": json(sample.refused, call)])
    }

    private static func json(_ sample: SampleRequest, _ call: ControlCall) -> JSON {
        let path = sample.endpoint.pattern
        return [
            "method": .string(sample.endpoint.method.rawValue), "path": .string(path),
            "url": .string(call.address(of: call.vendorPort) + path), "body": .string(sample.body),
            "headers": .array(sample.fields.map { [.string($0.name), .string($0.value)] }),
        ]
    }

    /// What a program or a person finds at the server's address; browsers are led to the page.
    static func readIndex(_ call: ControlCall) -> Answer {
        let control = call.address() + ControlOperation.prefix
        let base = call.address(of: call.vendorPort)
        let vendors = call.emulator.vendors.map(\.identity).map { vendor -> JSON in
            ["id": .string(vendor.id), "title": .string(vendor.title), "base": .string(base)]
        }
        return .json([
            "name": "Understudy", "version": .string(Emulator.version), "dashboard": .string(control + "/"),
            "openapi": .string(control + "/openapi.json"), "journal": .string(control + "/journal"),
            "vendors": .array(vendors),
        ])
    }
}

extension HTTPField.Name {
    static let replica = Self("X-Understudy-Replica") ?? .from
}

/// The probes of supervisors and proxies.
extension ControlAPI {
    static func readHealth(_ call: ControlCall) -> Answer {
        .ready(call.emulator.reloads.health { call.emulator.sandboxes.standard.redactor })
    }

    static func readLiveness(_ call: ControlCall) -> Answer { .json(["status": "ok"]) }

    static func readReadiness(_ call: ControlCall) -> Answer {
        let reason = call.emulator.reasonToStayAway
        return .json(
            ["ready": .bool(reason == nil), "replica": JSON(call.emulator.replica), "reason": JSON(reason)],
            status: reason == nil ? .ok : .serviceUnavailable)
    }

    static func readMetrics(_ call: ControlCall) -> Answer {
        let text = call.emulator.metricsText(calls: operations.map(\.id))
        return .ready(Response(status: .ok, fields: [.contentType: MetricsText.mediaType], body: Array(text.utf8)))
    }
}

/// The control API as an OpenAPI 3.1 document: `openapi.yaml`, which is part of the program.
enum ControlDocument {
    /// Read on first use, to keep the start fast; a test has read it before.
    private static let text: JSONObject = {
        let file = EmbeddedFile.all(in: "control").first.map { FixtureStore.File(path: $0.name, bytes: $0.bytes) }
        return file.flatMap { try? FixtureNode(file: $0).json().object } ?? [:]
    }()

    static func json(asksForToken: Bool) -> JSON {
        var document = text
        var info = document["info"]?.object ?? [:]
        info["version"] = .string(Emulator.version)
        document["info"] = .object(info)
        // Without a control token, the server accepts any.
        if asksForToken { document["security"] = [["controlToken": []]] }
        return .object(document)
    }

    static let place = "#/components/schemas/"

    static func reference(_ name: String) -> JSON { ["$ref": .string(place + name)] }

    static func schema(_ name: String) -> JSON? { text["components"]?["schemas"]?[name] }

    static func members(_ name: String) -> JSONObject { schema(name)?["properties"]?.object ?? [:] }
}

/// The control calls and the vendors as documents; those of vendors are made when first asked for, on a thread that may
/// wait.
extension ControlAPI {
    static func describe(_ call: ControlCall) -> Answer {
        .json(ControlDocument.json(asksForToken: call.emulator.controlAccess.token != nil))
    }

    static func describeCalls(_ call: ControlCall) throws(ControlProblem) -> Answer { try document(call, \.openAPI) }

    static func describeFrames(_ call: ControlCall) throws(ControlProblem) -> Answer { try document(call, \.asyncAPI) }

    private static func document(
        _ call: ControlCall, _ make: @escaping @Sendable (VendorDocument) -> JSON?
    ) throws(ControlProblem) -> Answer {
        let vendors = call.emulator.vendors
        let place = try ControlProblem.place(
            of: call.parameters["document"], among: vendors.map { "\($0.identity.id).json" }, "no document is called",
            .notFound, "no-such-vendor")
        let vendor = vendors[place]
        return call.reading { () throws(ControlProblem) in
            do throws(FixtureProblem) {
                if let document = make(try VendorDocument(vendor)) { return .json(document) }
            } catch {
                throw ControlProblem(.internalServerError, "fixtures-wrong", "\(error)")
            }
            throw ControlProblem(.notFound, "no-sockets", "\(vendor.identity.title) has no sockets.")
        }
    }
}
