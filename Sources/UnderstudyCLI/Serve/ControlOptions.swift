import ArgumentParser
import HTTPEngine

/// Who may make control calls: the token that `serve` requires, and the host names it accepts.
struct ControlOptions: ParsableArguments {
    @Option(help: "The bearer token that the control API requires (default: none).")
    var controlToken: String?

    @Option(
        help: "A separate port for the control API and the dashboard (default: the vendors' port); 0 picks a free one.")
    var controlPort: String?

    @Option(
        help: ArgumentHelp(
            "Another host name for control calls, such as one that a proxy passes on; may be repeated.",
            discussion: "IP addresses, localhost, names without a dot and --host are always allowed.", valueName: "name"
        ))
    var allowHost: [String] = []

    /// The required token; `nil` for none.
    func token(_ sources: OptionSources) throws -> String? {
        try sources.text("control-token", flag: controlToken)
    }

    /// The separate listener for control calls; `nil` when they share that of the vendors.
    func listener(host: String, _ sources: OptionSources) throws -> ServerConfiguration.Listener? {
        try sources.port("control-port", flag: controlPort).map { .init(host: host, port: $0) }
    }

    /// The host names in addition to those that every server accepts.
    func hostNames(listeningAt host: String, _ sources: OptionSources) throws -> Set<String> {
        let names = try sources.texts("allow-host", flags: allowHost)
        for name in names where !Self.isName(name) {
            throw Misuse(
                "--allow-host \(name) is not a host name such as mocks.example.test; leave out scheme and port.")
        }
        return Set(names + [host])
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// A warning for a server that other machines can reach without a token; otherwise `nil`.
    static func warning(listeningAt addresses: [BoundAddress], token: String?) -> String? {
        guard token == nil, let address = addresses.first(where: { !$0.isLoopback }) else { return nil }
        return """
            Anyone who reaches \(address) can control this server and read its journal: it listens beyond loopback \
            without a --control-token.
            """
    }
}

extension BoundAddress {
    /// Whether only this machine can reach the address.
    fileprivate var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }
}
