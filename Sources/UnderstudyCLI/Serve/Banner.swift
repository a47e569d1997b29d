import ArgumentParser
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
    let asksForToken: Bool

    private var base: String? { addresses.first { !$0.isSecure }.map(url(of:)) }

    private func url(of address: BoundAddress) -> String { "\(address.scheme)://\(address.local)" }

    func show() {
        for address in addresses { Output.line("Understudy \(Emulator.version) at \(address.scheme)://\(address)") }
        showSecureRequest()
        let (base, layers) = (control.map(url) ?? base, emulator.inForce.loaded.layers)
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

/// What `serve --print-config` prints: each option, its value, and where that was set.
enum ConfigurationListing {
    /// A row for each option.
    ///
    /// - Parameter arguments: those of the command, which the parser has accepted.
    static func rows(_ arguments: [String], _ sources: OptionSources) -> [[String]] {
        options.flatMap { option -> [[String]] in
            let isSet = option.standard == "false" && arguments.contains("--\(option.name)")
            let flags = isSet ? ["true"] : arguments.values(of: option.name)
            let flag = flags.isEmpty ? [] : [(value: flags.joined(separator: ", "), place: "flag")]
            let all = flag + sources.settings(of: option.name) + [(option.standard, "default")]
            // These add to those of the file.
            let isAdded = ["profile", "switch"].contains(option.name) && all.count > 1
            return (isAdded ? all.dropLast() : all.prefix(1)).map {
                [option.name, masked($0.value, option.name), $0.place]
            }
        }
    }

    /// The options and their defaults, as the help says them.
    private static var options: [(name: String, standard: String)] {
        let help = UnderstudyCommand.helpMessage(for: ServeCommand.self, columns: 1000)
        let flags = help.split(separator: "\n  --").dropFirst().compactMap { text -> (String, String)? in
            let name = String(text.prefix { $0 != " " && $0 != "\n" })
            guard !["print-config", "version"].contains(name) else { return nil }
            let isFlag = !text.dropFirst(name.count).hasPrefix(" <")
            let standard = text.firstMatch(of: /\(default: ([^)]*)\)/).map { String($0.1) }
            return (name, standard ?? (isFlag ? "false" : "none"))
        }
        // No flag of serve.
        return flags + [("ca-directory", "understudy/ca in $XDG_DATA_HOME or ~/.local/share")]
    }

    private static func masked(_ value: String, _ name: String) -> String {
        if name == "state" { return PostgresAddress.masked(value).place }
        return name != "control-token" || value.hasPrefix("@") || value == "none" ? value : "***"
    }
}
