import Emulation
import HTTPTypes
import JSON
package import Support
import Tokens

extension Notary {
    static let keySetRoute = Route<Notary>(
        "jwks", .get("/notary/{issuer}/jwks"), access: .anybody, evidence: .ours, source: "tests"
    ) { (call, state) throws(Refusal<Failure>) in
        guard let index = state.keys.firstIndex(where: { $0.name == call.parameters["issuer"] }) else {
            throw Refusal(.routeNotFound)
        }
        guard let keys = state.keys[index].fetch() else { throw Refusal(.keysBroken) }
        return .json(keys)
    }

    static func keys() throws(FixtureProblem) -> [IssuerKeys] {
        do throws(KeyError) {
            return [
                IssuerKeys(name: "plain", algorithm: .es256, signing: try .generateEC(.p256, id: "first")),
                IssuerKeys(
                    name: "announcing", algorithm: .es256, signing: try .generateEC(.p256, id: "first"),
                    next: try .generateEC(.p256, id: "second"), spares: [try .generateEC(.p256, id: "spare")]),
            ]
        } catch {
            throw FixtureProblem(file: "keys", message: error.description)
        }
    }

    func issuers(in state: State) -> [IssuerKeys] { state.keys }

    func store(_ keys: IssuerKeys, in state: inout State) {
        if let index = state.keys.firstIndex(where: { $0.name == keys.name }) { state.keys[index] = keys }
    }
}

extension Notary {
    static let tokenKinds = [TokenKind(name: "seal", about: "for tests", members: [], defects: [])]

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Notary>) throws(ControlRefusal) -> String {
        let key = setting.state.keys[0].signing
        let draft = TokenDraft(header: ["kid": JSON(key.id), "alg": "ES256"], claims: ["sub": "me"])
        return try UnsignedToken(draft, key: key, algorithm: .es256).signed(at: setting.moment)
    }

    func sampleRequest(in setting: TokenSetting<Notary>) throws(ControlRefusal) -> SampleRequest {
        SampleRequest(endpoint: .get("/notary/motto"), fields: [], body: "", refusedAt: .get("/notary/whoami"))
    }
}

extension Notary {
    static let statuses: KeyValuePairs = ["nothing-here": 404, "token-wrong": 401, "keys-broken": 500]

    /// The fixtures of a notary with this motto, which its refusals repeat.
    static func fixtures(_ motto: String) throws -> TemporaryFolder {
        try TemporaryFolder([
            "notary/accounts.yaml": "motto: \"\(motto)\"\n",
            "notary/failures.yaml": failureSheet(statuses, ", motto: \"\(motto)\""),
        ])
    }
}

/// The `failures.yaml` of a test vendor, by names and statuses; the contents may have more members.
func failureSheet(_ statuses: KeyValuePairs<String, Int>, _ members: String = "") -> String {
    let lines = statuses.map { name, status in
        "  \(name): { about: x, status: \(status), body: { code: \"\(name)\"\(members) }, evidence: ours, source: tests }\n"
    }
    return "failures:\n" + lines.joined()
}

extension VendorConformance {
    private static let notaryFixtures = Result { try Notary.fixtures("kit") }

    package static let notary = {
        var vendor = VendorConformance(
            id: "notary",
            life: SandboxLife(secrets: ["PRIVATE"], drawsIDs: false) { world in
                _ = try await world.call(.get, "/notary/motto")
                return SandboxLife.Past(seen: { [try await $0.control(.get, "state/notary").text] }) {
                    _ = try await $0.call(.get, "/notary/motto")
                }
            })
        vendor.server = ConformanceServer(
            fixtures: (try? notaryFixtures.get().path) ?? "", loaders: [VendorLoader(Notary.self)])
        vendor.givesReasons = false
        vendor.bodyTooLarge = "nothing-here"
        vendor.routes = [
            RouteCase("jwks", .get, "/notary/plain/jwks"),
            RouteCase("whoami", .get, "/notary/whoami", bearer: "notary/seal"),
            RouteCase("motto", .get, "/notary/motto"),
        ]
        vendor.refusal = { $0.route == "whoami" ? "token-wrong" : nil }
        vendor.tokens = [
            TokenCase("seal", defects: [], refused: Defect.names.filter { $0 != "missing-CLAIM" }) { world, order in
                let token = try await world.mint("notary/seal", order)
                return try await world.call(.get, "/notary/whoami", [("authorization", "Bearer " + token)])
            }
        ]
        return vendor
    }()
}
