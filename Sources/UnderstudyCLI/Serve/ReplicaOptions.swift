import ArgumentParser
import Emulation
import Understudy

/// How `serve` works together with others that share its folder of states.
struct ReplicaOptions: ParsableArguments {
    /// How long a replica waits by default until its proxy has noticed that it stops.
    private static let standardDrain = Duration.seconds(2)

    @Option(
        help: ArgumentHelp(
            "A name among the servers that share the folder of --state (default: the folder is this server's alone).",
            valueName: "name"))
    var replica: String?

    @Option(
        help: ArgumentHelp(
            "Where the replicas' control API answers, for lists of all: URLs with commas between them (default: none).",
            discussion: "A name in an http URL stands for all its addresses; this replica may be among them.",
            valueName: "urls"))
    var peers: String?

    @Option(
        help: ArgumentHelp(
            "How long everything is still answered once the server is to stop and /_understudy/health/ready refuses (default: 0s, with --replica 2s).",
            valueName: "duration"))
    var drain: String?

    /// The replica's name; `nil` for a server alone.
    func name(_ sources: OptionSources) throws -> String? {
        try sources.value(
            "replica", flag: replica, default: String?.none, expected: "1 to 63 of a-z, 0-9 and hyphen"
        ) { text in SandboxName.isValid(text) ? .some(text) : nil }
    }

    /// The URLs of `--peers`.
    func bases(_ sources: OptionSources) throws -> [String] {
        try sources.value(
            "peers", flag: peers, default: [],
            expected: "URLs of scheme, host and port with commas between them, such as http://replica-b:8080"
        ) { text in
            let urls = text.split(separator: ",", omittingEmptySubsequences: false).map {
                String($0.drop { $0 == " " })
            }
            return urls.allSatisfy(Peers.isValid) ? urls : nil
        }
    }

    /// How long readiness refuses before the server stops.
    func drainTime(_ sources: OptionSources) throws -> Duration {
        let standard = try name(sources) == nil ? Duration.zero : Self.standardDrain
        return try sources.value(
            "drain", flag: drain, default: standard, expected: "a duration up to 1h such as 5s",
            parse: { Duration(text: $0).flatMap { (.zero...(.seconds(3600))).contains($0) ? $0 : nil } })
    }
}
