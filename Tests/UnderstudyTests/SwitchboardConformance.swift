import Emulation
import HTTPTypes
package import Support

extension VendorConformance {
    private static let switchboardFixtures = Result { try Switchboard.fixtures() }

    /// The switchboard's description for the conformance kit; it imports no state.
    package static let switchboard = {
        var vendor = VendorConformance(id: "switchboard")
        vendor.server = ConformanceServer(
            fixtures: (try? switchboardFixtures.get().path) ?? "", loaders: [VendorLoader(Switchboard.self)])
        vendor.givesReasons = false
        vendor.actions = ["drop session!", "begin", "forget"]
        vendor.bodyTooLarge = "nothing-here"
        vendor.routes = [
            RouteCase("start", .post, "/switchboard/sessions/a", status: 204, answer: ""),
            RouteCase("socket", .get, "/switchboard/sessions/a/socket", status: 101, answer: "") {
                _ = try await $0.call(.post, "/switchboard/sessions/a")
                return [:]
            },
            RouteCase("count", .post, "/switchboard/count", answer: #"{"count":1,"sessions":0}"#),
            RouteCase("tell", .post, "/switchboard/tell?to=a&text=x", status: 204, answer: ""),
        ]
        vendor.refusal = { $0.route == "socket" ? "upgrade-required" : nil }
        return vendor
    }()
}
