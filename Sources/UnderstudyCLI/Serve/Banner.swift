import Emulation
import HTTPEngine
import JSON
import Understudy

/// The text that `serve` prints once it accepts connections: its addresses, its vendors, and a command to try.
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

    private var controlBase: String? { control.map(url(of:)) }

    private func url(of address: BoundAddress) -> String { "\(address.scheme)://\(address.local)" }

    func show() {
        for address in addresses { Output.line("Understudy \(Emulator.version) at \(address.scheme)://\(address)") }
        showSecureRequest()
        showFixtures()
        for vendor in emulator.vendors {
            Output.line()
            let failures = vendor.failureNames.count
            Output.line("\(vendor.identity.title): \(vendor.routes.count) routes, \(failures) failures")
            Output.table(vendor.samples.map { ["  \($0.label)", $0.value] })
            showSampleRequest(of: vendor)
        }
        Output.line()
        for run in emulator.sandboxes.standard.activeScenarios {
            Output.line("Active scenario: \(run["scenario"]?.string ?? ""), in \(run["state"]?.string ?? "")")
        }
        if let base {
            let token = asksForToken ? " -H 'authorization: Bearer CONTROL_TOKEN'" : ""
            Output.line("Why was a request refused? curl -s\(token) \(controlBase ?? base)/_understudy/journal")
            Output.line("Or open in a browser: \(controlBase ?? base)/_understudy/")
        }
        if let all = addresses.first(where: { $0.local != $0 }) {
            let family = all.host == "::" ? "IPv6" : "IPv4"
            Output.line("It listens on every \(family) address of this machine; its keys and passwords are public.")
        }
        Output.line("Stop with Control-C.")
    }

    private func showFixtures() {
        let layers = emulator.fixtureLayers
        Output.line("Fixtures: \(layers.map(\.folder).joined(separator: ", over "))")
        for warning in layers.flatMap(\.warnings) { Output.complaint("understudy: \(warning)") }
    }

    /// Users who supply a certificate know how to trust it.
    private func showSecureRequest() {
        guard let authorityPath, let address = addresses.first(where: \.isSecure) else { return }
        Output.line("  curl --cacert \(Output.quoted(authorityPath)) \(url(of: address))/_understudy/health")
    }

    private func showSampleRequest(of vendor: any AnyLoadedVendor) {
        guard let base else { return }
        // Custom fixtures may leave a vendor without a signing key; then no command is shown. Minted with the sandbox's
        // clock, which differs from the machine's if there is a seed.
        let sandbox = emulator.sandboxes.standard
        guard
            let request = try? vendor.sampleRequest(at: sandbox.now, base: sandbox.identity.publicBase.text)
        else { return }
        var command = "curl -i -X \(request.endpoint.method.rawValue) \(base)\(request.endpoint.pattern)"
        for (name, value) in request.fields { command += " -H \(Output.quoted("\(name): \(value)"))" }
        if !request.body.isEmpty { command += " --data-raw \(Output.quoted(request.body))" }
        Output.line("  Try it:")
        Output.line("  \(command)")
    }
}
