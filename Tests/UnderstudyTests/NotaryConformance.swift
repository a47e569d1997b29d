import Emulation
import HTTPTypes
import JSON
package import Support
import Tokens

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
