import Emulation
import HTTPEngine
import JSON
import Understudy

/// The text that `serve` prints once it accepts connections: its addresses, its vendors, and what to do next.
struct Banner {
    let emulator: Emulator
    let addresses: [BoundAddress]
    /// The address for control calls, if they have their own listener.
    let control: BoundAddress?
    /// The local CA's certificate, if it issued the server's.
    let authorityPath: String?
    /// Whether the control API requires a token.
    let asksForToken: Bool

    /// The URL for clients on this machine.
    private var base: String? { addresses.first { !$0.isSecure }.map(url(of:)) }

    private func url(of address: BoundAddress) -> String { "\(address.scheme)://\(address.local)" }

    func show() {
        for address in addresses { Output.line("Understudy \(Emulator.version) at \(address.scheme)://\(address)") }
        showSecureRequest()
        let (base, layers) = (control.map(url) ?? base, emulator.fixtureLayers)
        if let base { Output.line("Dashboard: \(base)/_understudy/") }
        Output.line("Fixtures: \(layers.map(\.folder).joined(separator: ", over "))")
        for warning in layers.flatMap(\.warnings) { Output.complaint("understudy: \(warning)") }
        Output.table(
            emulator.vendors.map { vendor in
                ["  " + vendor.identity.title, "\(vendor.routes.count) routes, \(vendor.failureNames.count) failures"]
            })
        for run in emulator.sandboxes.standard.activeScenarios {
            Output.line("Active scenario: \(run["scenario"]?.string ?? ""), in \(run["state"]?.string ?? "")")
        }
        if let base {
            let server = base == "http://127.0.0.1:8080" ? "" : " --server \(base)"
            Output.line("Calls to try: understudy try\(server)")
            Output.line("Why was a request refused? understudy journal --refused\(server)")
            if asksForToken { Output.line("Both need the control token, in UNDERSTUDY_CONTROL_TOKEN.") }
        }
        if let all = addresses.first(where: { $0.local != $0 }) {
            let family = all.host == "::" ? "IPv6" : "IPv4"
            Output.line("It listens on every \(family) address of this machine; its keys and passwords are public.")
        }
        Output.line("Stop with Control-C.")
    }

    /// Users who supply a certificate know how to trust it.
    private func showSecureRequest() {
        guard let authorityPath, let address = addresses.first(where: \.isSecure) else { return }
        Output.line("  curl --cacert \(Output.quoted(authorityPath)) \(url(of: address))/_understudy/health")
    }
}
